#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// [batch, channels r r, height, width] <-> [batch, channels, height r, width r]
struct PixelShuffle {
  int64_t batch, channels, height, width, factor;
  bool inverse;

  PixelShuffle(const TensorBase& self, int64_t r, bool inverse) : factor(r), inverse(inverse) {
    constexpr const char* kOp = "_pixel_shuffle_channels_last";
    TENON_CHECK(self.dim() == 4 && r > 0 && r < (int64_t{1} << 31), "[", kOp,
                "] expected four dimensions and a positive factor, got ", self.sizes(), " and ", r);
    batch = self.size(0);
    channels = inverse ? self.size(1) : self.size(1) / (r * r);
    height = inverse ? self.size(2) / r : self.size(2);
    width = inverse ? self.size(3) / r : self.size(3);
    TENON_CHECK(inverse ? self.size(2) == height * r && self.size(3) == width * r
                        : self.size(1) == channels * r * r,
                "[", kOp, "] sizes ", self.sizes(), " are not divisible by the factor ", r);
  }

  DimVector sizes() const {
    return inverse ? DimVector{batch, channels * factor * factor, height, width}
                   : DimVector{batch, channels, height * factor, width * factor};
  }
};

}  // namespace tenon::meta
