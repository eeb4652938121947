#include "tenon/native/sum.h"

#include "aten/meta/reduce.h"
#include "tenon/native/mean.h"

namespace tenon {

TensorSpec native::sum_meta(const Tensor& self, std::optional<ScalarType> dtype) {
  return accumulating(TensorSpec(IntArrayRef(), accumulated_dtype(self, dtype), self.device()),
                      dtype);
}

TensorSpec native::sum_dim_IntList_meta(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                                        std::optional<ScalarType> dtype) {
  return accumulating(reduced_spec("sum", self, dim, keepdim, accumulated_dtype(self, dtype)),
                      dtype);
}

TensorSpec native::mean_meta(const Tensor& self, std::optional<ScalarType> dtype) {
  return accumulating(TensorSpec(IntArrayRef(), inexact_dtype("mean", self, dtype), self.device()),
                      dtype);
}

TensorSpec native::mean_dim_meta(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                                 std::optional<ScalarType> dtype) {
  return accumulating(reduced_spec("mean", self, dim, keepdim, inexact_dtype("mean", self, dtype)),
                      dtype);
}

}  // namespace tenon
