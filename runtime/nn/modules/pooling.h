#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// The largest value of each window: [N, C, H, W] to [N, C, H', W'] with H' = (H + 2 padding -
/// dilation (kernel - 1) - 1) / stride + 1, rounded up if ceil_mode.
class TENON_API MaxPool2dImpl : public Module {
 public:
  MaxPool2dImpl(ExpandingArray<2> kernel_size) : MaxPool2dImpl(MaxPool2dOptions(kernel_size)) {}
  explicit MaxPool2dImpl(const MaxPool2dOptions& options) : options(options) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  MaxPool2dOptions options;
};
TENON_MODULE(MaxPool2d);

/// The mean of each window; padding counts as zeros unless count_include_pad is off.
class TENON_API AvgPool2dImpl : public Module {
 public:
  AvgPool2dImpl(ExpandingArray<2> kernel_size) : AvgPool2dImpl(AvgPool2dOptions(kernel_size)) {}
  explicit AvgPool2dImpl(const AvgPool2dOptions& options) : options(options) {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  AvgPool2dOptions options;
};
TENON_MODULE(AvgPool2d);

}  // namespace tenon::nn
