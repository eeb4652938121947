#include "tenon/native/adaptive_avg_pool2d.h"

#include "aten/composite/in_format.h"
#include "tenon/ops/_adaptive_avg_pool2d.h"
#include "tenon/ops/mean.h"

namespace tenon {

/// Output (i, j) is the mean over rows [floor(i H / h), ceil((i + 1) H / h)) and columns alike.
Tensor native::adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  if (output_size.size() == 2 && output_size[0] == 1 && output_size[1] == 1 && self.numel() > 0) {
    // Of any number of dimensions.
    return in_format(mean(self, {-1, -2}, /*keepdim=*/true),
                     self.dim() == 4 ? self.suggest_memory_format() : MemoryFormat::Contiguous);
  }
  return _adaptive_avg_pool2d(self, output_size);
}

}  // namespace tenon
