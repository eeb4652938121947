#include "tenon/native/index_select.h"

#include "aten/meta/checks.h"
#include "aten/meta/strides.h"
#include "tenon/native/index_add.h"
#include "tenon/native/index_fill.h"

namespace tenon {
namespace {

void check_index(const char* op, const Tensor& self, const Tensor& index) {
  meta::check_same_device(op, "self", self, "index", index);
  TENON_CHECK_TYPE(index.scalar_type() == kLong || index.scalar_type() == kInt, "[", op,
                   "] Expected dtype int32 or int64 for index, got ", index.scalar_type());
  TENON_CHECK_INDEX(index.dim() <= 1, "[", op, "] Index is supposed to be a vector, got sizes ",
                    index.sizes());
}

}  // namespace

/// Sizes of self, but the number of indices along dim.
TensorSpec native::index_select_meta(const Tensor& self, int64_t dim, const Tensor& index) {
  check_index("index_select", self, index);
  const int64_t d = wrap_dim(dim, self.dim());
  DimVector sizes(self.sizes());
  if (self.dim() > 0) sizes[d] = index.numel();
  return TensorSpec(sizes, self);
}

TensorSpec native::index_add_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                  const Tensor& source, const Scalar&) {
  check_index("index_add", self, index);
  meta::check_same_device("index_add", "self", self, "source", source);
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK_TYPE(self.scalar_type() == source.scalar_type(),
                   "[index_add] self and source must have the same dtype, got ", self.scalar_type(),
                   " and ", source.scalar_type());
  TENON_CHECK(source.dim() == self.dim() || (source.dim() == 0 && self.dim() == 1),
              "[index_add] source must have as many dimensions as self, got sizes ", source.sizes(),
              " and ", self.sizes());
  for (int64_t i = 0; i < source.dim(); ++i) {
    TENON_CHECK(i == d || source.sizes()[i] == self.sizes()[i],
                "[index_add] source and self must agree but in dimension ", d, ", got sizes ",
                source.sizes(), " and ", self.sizes());
  }
  const int64_t rows = source.dim() == 0 ? 1 : source.sizes()[d];
  TENON_CHECK(index.numel() == rows, "[index_add] Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", rows, "), for dim: ", d);
  return TensorSpec(self.sizes(), self);
}

TensorSpec native::index_fill_int_Scalar_meta(const Tensor& self, int64_t dim, const Tensor& index,
                                              const Scalar&) {
  check_index("index_fill", self, index);
  wrap_dim(dim, self.dim());
  return TensorSpec(self.sizes(), meta::preserved_strides(self), self.scalar_type(), self.device());
}

}  // namespace tenon
