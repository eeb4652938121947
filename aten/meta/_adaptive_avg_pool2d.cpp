#include "tenon/native/_adaptive_avg_pool2d.h"

#include "aten/meta/pooling.h"

namespace tenon {

meta::Pool2d meta::adaptive_pool2d(const TensorBase& input, const TensorBase& output) {
  const int64_t plane = input.size(-1) * input.size(-2);
  return {input.numel() / plane,
          input.size(-2),
          input.size(-1),
          output.size(-2),
          output.size(-1),
          0,
          0,
          0,
          0,
          0,
          0,
          1,
          1};
}

/// [N, C, H, W] or [C, H, W] -> [..., output_size]
TensorSpec native::_adaptive_avg_pool2d_meta(const Tensor& self, IntArrayRef output_size) {
  TENON_CHECK(output_size.size() == 2, "[adaptive_avg_pool2d] output_size must be 2, got ",
              output_size);
  TENON_CHECK(
      output_size[0] >= 0 && output_size[1] >= 0,
      "[adaptive_avg_pool2d] elements of output_size must be greater than or equal to 0, got ",
      output_size);
  TENON_CHECK(self.dim() == 3 || self.dim() == 4,
              "[adaptive_avg_pool2d] Expected 3D or 4D tensor, but got ", self.sizes());
  for (int64_t d = self.dim() - 2; d < self.dim(); ++d) {
    TENON_CHECK(self.size(d) > 0,
                "[adaptive_avg_pool2d] Expected input to have non-zero size for non-batch ",
                "dimensions, but input has sizes ", self.sizes(), " with dimension ", d,
                " being empty");
  }
  const DimVector sizes = meta::plane_sizes(self, output_size[0], output_size[1]);
  return TensorSpec(sizes, meta::strides_like(self, sizes), self.scalar_type(), self.device());
}

}  // namespace tenon
