#include "tenon/native/gather.h"

#include "tenon/native/scatter.h"
#include "tenon/native/scatter_add.h"
#include "tenon/native/scatter_reduce.h"

#include <algorithm>

#include "aten/meta/checks.h"

namespace tenon {
namespace {

void check_index(const char* op, const Tensor& self, const Tensor& index) {
  meta::check_same_device(op, "self", self, "index", index);
  TENON_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt || index.numel() == 0,
              "[", op, "] Expected dtype int32/int64 for index, got ", index.scalar_type());
  TENON_CHECK(
      index.numel() == 0 || std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(self.dim(), 1),
      "[", op, "] Index tensor must have the same number of dimensions as self tensor, got sizes ",
      index.sizes(), " and ", self.sizes());
}

/// A tensor without dimensions counts as one of a single element.
int64_t size_at(const Tensor& t, int64_t i) { return t.dim() == 0 ? 1 : t.sizes()[i]; }

TensorSpec scattered(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor* src) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_index(op, self, index);
  if (src) meta::check_same_device(op, "self", self, "src", *src);
  TENON_CHECK(!src || src->scalar_type() == self.scalar_type(), "[", op,
              "] Expected self.dtype to be equal to src.dtype, got ", self.scalar_type(), " and ",
              src ? src->scalar_type() : self.scalar_type());
  if (index.numel() == 0) return TensorSpec(self.sizes(), self).kept_apart_from_others();
  // IndexError of fewer dimensions, as PyTorch's; none count as one of a single element.
  if (src && src->dim() > 0 && src->dim() < self.dim()) src->size(self.dim() - 1);
  TENON_CHECK(!src || std::max<int64_t>(src->dim(), 1) == std::max<int64_t>(index.dim(), 1), "[",
              op,
              "] Index tensor must have the same number of dimensions as src tensor, got sizes ",
              index.sizes(), " and ", src ? src->sizes() : index.sizes());
  bool fits = true;
  for (int64_t i = 0; fits && i < std::max<int64_t>(index.dim(), 1); ++i) {
    fits = (i == d || size_at(index, i) <= size_at(self, i)) &&
           (!src || size_at(index, i) <= size_at(*src, i));
  }
  TENON_CHECK(fits, "[", op, "] Expected index ", index.sizes(), " to be no larger than self ",
              self.sizes(), " apart from dimension ", d, " and to be no larger size than src ",
              src ? src->sizes() : index.sizes());
  return TensorSpec(self.sizes(), self).kept_apart_from_others();
}

void check_reduce(const Tensor& self, int64_t dim, std::string_view reduce) {
  wrap_dim(dim, self.dim());
  TENON_CHECK(reduce == "add" || reduce == "multiply",
              "[scatter] reduce argument must be either add or multiply, got ", reduce);
}

}  // namespace

TensorSpec native::gather_meta(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_index("gather", self, index);
  for (int64_t i = 0; index.numel() > 0 && i < std::min(index.dim(), self.dim()); ++i) {
    TENON_CHECK(i == d || index.sizes()[i] <= self.sizes()[i],
                "[gather] Size does not match at dimension ", i, " expected index ", index.sizes(),
                " to be no larger than self ", self.sizes(), " apart from dimension ", d);
  }
  return TensorSpec(index.sizes(), self).kept_apart();
}

TensorSpec native::scatter_src_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& src) {
  return scattered("scatter", self, dim, index, &src);
}

TensorSpec native::scatter_value_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                      const Scalar&) {
  return scattered("scatter", self, dim, index, nullptr);
}

TensorSpec native::scatter_reduce_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                       const Tensor& src, std::string_view reduce) {
  check_reduce(self, dim, reduce);
  return scattered("scatter", self, dim, index, &src);
}

TensorSpec native::scatter_value_reduce_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                             const Scalar&, std::string_view reduce) {
  check_reduce(self, dim, reduce);
  return scattered("scatter", self, dim, index, nullptr);
}

TensorSpec native::scatter_reduce_two_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                           const Tensor& src, std::string_view reduce, bool) {
  const bool is_extreme =
      reduce == "amax" || reduce == "amin" || reduce == "max" || reduce == "min";
  TENON_CHECK(is_extreme || reduce == "sum" || reduce == "prod" || reduce == "mean",
              "[scatter_reduce] reduce argument must be either sum, prod, mean, amax or amin, got ",
              reduce);
  TENON_CHECK_NOT_IMPLEMENTED(
      !(is_extreme && self.is_complex()) && !(reduce == "mean" && self.scalar_type() == kBool),
      "[scatter_reduce] ", reduce, " is not implemented for '", self.scalar_type(), "'");
  return scattered("scatter_reduce", self, dim, index, &src);
}

TensorSpec native::scatter_add_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& src) {
  return scattered("scatter_add", self, dim, index, &src);
}

}  // namespace tenon
