#include "tenon/native/sort.h"

#include "aten/meta/strides.h"
#include "aten/meta/tensor_spec.h"
#include "tenon/native/topk.h"

namespace tenon {

std::array<TensorSpec, 2> native::sort_stable_meta(const Tensor& self, std::optional<bool>,
                                                   int64_t dim, bool) {
  wrap_dim(dim, self.dim());
  TENON_CHECK_TYPE(!self.is_complex(), "[sort] does not support complex dtypes, got ",
                   self.scalar_type());
  const DimVector strides = native::preserved_strides(self);
  return {TensorSpec(self.sizes(), strides, self.scalar_type(), self.device()),
          TensorSpec(self.sizes(), strides, kLong, self.device())};
}

std::array<TensorSpec, 2> native::topk_meta(const Tensor& self, int64_t k, int64_t dim, bool,
                                            bool) {
  TENON_CHECK_TYPE(!self.is_complex(), "[topk] does not support complex dtypes, got ",
                   self.scalar_type());
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
  TENON_CHECK(k >= 0 && k <= size, "[topk] selected index k out of range, got k=", k,
              " for dimension ", d, " with size ", size);
  DimVector sizes(self.sizes());
  if (self.dim() > 0) sizes[d] = k;
  return {TensorSpec(sizes, self), TensorSpec(sizes, kLong, self.device())};
}

}  // namespace tenon
