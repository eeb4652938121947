#include "runtime/nn/modules/conv.h"

#include <cmath>

#include "runtime/nn/init.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/empty.h"

namespace tenon::nn {

Conv2dImpl::Conv2dImpl(const Conv2dOptions& o) : options(o) {
  TENON_CHECK_VALUE(o.groups() > 0 && o.in_channels() % o.groups() == 0 &&
                        o.out_channels() % o.groups() == 0,
                    "[Conv2d] in_channels and out_channels must be divisible by groups, got ",
                    o.in_channels(), ", ", o.out_channels(), " and ", o.groups());
  const auto& kernel = o.kernel_size();
  weight = register_parameter(
      "weight", empty({o.out_channels(), o.in_channels() / o.groups(), kernel[0], kernel[1]},
                      TensorOptions()));
  if (o.bias()) {
    bias = register_parameter("bias", empty({o.out_channels()}, TensorOptions()));
  } else {
    bias = register_parameter("bias", {}, false);
  }
  reset_parameters();
}

void Conv2dImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (bias.defined()) {
    const auto fan_in = static_cast<double>(init::calculate_fan_in_and_fan_out(weight).first);
    const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
    init::uniform_(bias, -bound, bound);
  }
}

Tensor Conv2dImpl::forward(const Tensor& input) {
  return tenon::conv2d(input, weight, bias.defined() ? std::optional(bias) : std::nullopt,
                       IntArrayRef(options.stride()), IntArrayRef(options.padding()),
                       IntArrayRef(options.dilation()), options.groups());
}

void Conv2dImpl::pretty_print(std::ostream& out) const {
  out << "Conv2d(" << options.in_channels() << ", " << options.out_channels()
      << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
      << ", padding=" << options.padding() << ", bias=" << (options.bias() ? "true" : "false")
      << ')';
}

}  // namespace tenon::nn
