#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// Cross-correlation: [N, C, H, W] to [N, out_channels, H', W'] with H' = (H + 2 padding - dilation
/// (kernel - 1) - 1) / stride + 1. Parameters weight [out, in / groups, kernel, kernel] and bias
/// [out], uniform in +-1 / sqrt(fan in) at first.
class TENON_API Conv2dImpl : public Module {
 public:
  Conv2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size)
      : Conv2dImpl(Conv2dOptions(in_channels, out_channels, kernel_size)) {}
  explicit Conv2dImpl(const Conv2dOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  Conv2dOptions options;
  Tensor weight;
  Tensor bias;
};
TENON_MODULE(Conv2d);

}  // namespace tenon::nn
