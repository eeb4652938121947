#include "tenon/native/sum.h"

#include "aten/meta/reduce.h"
#include "tenon/native/mean.h"

namespace tenon {

TensorSpec native::sum_meta(const Tensor& self, std::optional<ScalarType> dtype) {
  return TensorSpec(IntArrayRef(), accumulated_dtype(self, dtype), self.device()).casting();
}

TensorSpec native::sum_dim_IntList_meta(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                                        std::optional<ScalarType> dtype) {
  return reduced_spec("sum", self, dim, keepdim, accumulated_dtype(self, dtype)).casting();
}

TensorSpec native::mean_meta(const Tensor& self, std::optional<ScalarType> dtype) {
  return TensorSpec(IntArrayRef(), inexact_dtype("mean", self, dtype), self.device()).casting();
}

TensorSpec native::mean_dim_meta(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                                 std::optional<ScalarType> dtype) {
  return reduced_spec("mean", self, dim, keepdim, inexact_dtype("mean", self, dtype)).casting();
}

}  // namespace tenon
