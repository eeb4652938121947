#include "tenon/native/_max_pool2d_gather.h"

namespace tenon {

/// self [..., H, W] read at positions `indices` of each plane -> the shape of indices.
TensorSpec native::_max_pool2d_gather_meta(const Tensor& self, const Tensor& indices) {
  TENON_CHECK(self.dim() >= 2 && self.dim() == indices.dim(),
              "[_max_pool2d_gather] self and indices need as ", "many dimensions, got ",
              self.sizes(), " and ", indices.sizes());
  TENON_CHECK(indices.scalar_type() == kLong, "[_max_pool2d_gather] expected int64 indices, got ",
              indices.scalar_type());
  for (int64_t d = 0; d < self.dim() - 2; ++d) {
    TENON_CHECK(self.size(d) == indices.size(d), "[_max_pool2d_gather] indices ", indices.sizes(),
                " do not belong to an input of shape ", self.sizes());
  }
  return TensorSpec(indices.sizes(), self);
}

}  // namespace tenon
