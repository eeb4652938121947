#include "tenon/native/index_select.h"

#include "aten/meta/checks.h"
#include "aten/meta/strides.h"
#include "tenon/native/index_add.h"
#include "tenon/native/index_fill.h"

namespace tenon {
namespace {

void check_index_list(const char* op, const Tensor& self, const Tensor& index) {
  meta::check_same_device(op, "self", self, "index", index);
  TENON_CHECK_INDEX(index.dim() <= 1, "[", op, "] Index is supposed to be a vector, got sizes ",
                    index.sizes());
  TENON_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, "[", op,
              "] Expected dtype int32 or int64 for index, got ", index.scalar_type());
}

}  // namespace

/// Sizes of self, but the number of indices along dim.
TensorSpec native::index_select_meta(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_index_list("index_select", self, index);
  DimVector sizes(self.sizes());
  if (self.dim() > 0) sizes[d] = index.numel();
  return TensorSpec(sizes, self).kept_apart();
}

TensorSpec native::index_add_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                  const Tensor& source, const Scalar&) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_index_list("index_add", self, index);
  meta::check_same_device("index_add", "self", self, "source", source);
  TENON_CHECK(self.scalar_type() == source.scalar_type(),
              "[index_add] self and source must have the same dtype, got ", self.scalar_type(),
              " and ", source.scalar_type());
  bool fits = source.dim() == self.dim() || (source.dim() == 0 && self.dim() == 1);
  for (int64_t i = 0; fits && i < source.dim(); ++i)
    fits = i == d || source.sizes()[i] == self.sizes()[i];
  TENON_CHECK(fits,
              "[index_add] source tensor shape must match self tensor shape, excluding the "
              "specified dimension. Got self.shape = ",
              self.sizes(), " source.shape = ", source.sizes());
  const int64_t rows = source.dim() == 0 ? 1 : source.sizes()[d];
  if (index.numel() != rows) source.size(dim);  // PyTorch's message asks for it
  TENON_CHECK(index.numel() == rows, "[index_add] Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", rows, "), for dim: ", d);
  return TensorSpec(self.sizes(), self).kept_apart_from_others();
}

TensorSpec native::index_fill_int_Scalar_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                              const Scalar& value) {
  TENON_CHECK_INDEX(index.scalar_type() == kLong,
                    "[index_fill] Expected dtype int64 for index, got ", index.scalar_type());
  TENON_CHECK(!value.is_complex() || self.is_complex(),
              "[index_fill] Converting complex Scalar to non-complex type is not supported, got ",
              value, " for a tensor of ", self.scalar_type());
  wrap_dim(dim, self.dim());
  TENON_CHECK(index.dim() <= 1, "[index_fill] Index has to be a vector/scalar, got sizes ",
              index.sizes());
  check_index_list("index_fill", self, index);
  return TensorSpec(self.sizes(), native::preserved_strides(self), self.scalar_type(),
                    self.device())
      .kept_apart_from_others();
}

}  // namespace tenon
