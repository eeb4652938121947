#include "tenon/native/embedding.h"

namespace tenon {

/// weight [V, D], indices [...] of Long or Int -> [..., D]
TensorSpec native::embedding_meta(const Tensor& weight, const Tensor& indices, int64_t, bool,
                                  bool) {
  TENON_CHECK(weight.dim() == 2, "[embedding] 'weight' must be 2-D, got shape ", weight.sizes());
  TENON_CHECK(indices.scalar_type() == kLong || indices.scalar_type() == kInt,
              "[embedding] Expected tensor for argument #1 'indices' to have one of the following "
              "scalar types: ",
              "Long, Int; but got ", indices.scalar_type(), " instead");
  TENON_CHECK(
      weight.device() == indices.device(),
      "[embedding] Expected all tensors to be on the same device, but found at least two devices, ",
      weight.device(), " and ", indices.device());
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.size(1));
  return TensorSpec(sizes, weight);
}

}  // namespace tenon
