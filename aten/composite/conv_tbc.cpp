#include "tenon/native/conv_tbc.h"

#include "tenon/ops/add.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/matmul.h"

namespace tenon {

/// A convolution of one dimension, time, batch, channels: self [T, B, C], weight [K, C, D], bias
/// [D]
/// -> [T + 2 pad - K + 1, B, D]; a product of matrices for each of the kernel's K places.
Tensor native::conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  TENON_CHECK(self.dim() == 3, "[conv_tbc] Input must have 3 dims: time, batch, in_channel, got ",
              self.sizes());
  TENON_CHECK(weight.dim() == 3,
              "[conv_tbc] Weight tensor must have 3 dims: kernel_width, in_channels, out_channels, "
              "got ",
              weight.sizes());
  TENON_CHECK(bias.dim() == 1, "[conv_tbc] Bias must be 1-D, got ", bias.sizes());
  TENON_CHECK(self.size(2) == weight.size(1),
              "[conv_tbc] Input dim 2 (input channels) is not == dim 1 in the weight tensor: ",
              self.sizes(), " and ", weight.sizes());
  TENON_CHECK(weight.size(2) == bias.size(0),
              "[conv_tbc] Bias size must equal dim 2 in the weight tensor (output channels): ",
              bias.sizes(), " and ", weight.sizes());
  const int64_t kernel = weight.size(0), length = self.size(0) + 2 * pad - kernel + 1;
  TENON_CHECK(length >= 0, "[conv_tbc] Trying to create tensor with negative dimension ", length,
              ", got input ", self.sizes(), ", weight ", weight.sizes(), " and pad ", pad);
  const Tensor x = pad == 0 ? self : tenon::constant_pad_nd(self, {0, 0, 0, 0, pad, pad});
  const int64_t b = self.size(1), in = self.size(2), out = weight.size(2);
  Tensor sum = bias.to(self.scalar_type()).expand({length * b, out});
  for (int64_t k = 0; k < kernel; ++k) {
    sum = sum.addmm(x.narrow(0, k, length).reshape({length * b, in}), weight.select(0, k));
  }
  return kernel == 0 ? sum.contiguous().view({length, b, out}) : sum.view({length, b, out});
}

}  // namespace tenon
