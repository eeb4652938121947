#include "runtime/nn/modules/linear.h"

#include <cmath>

#include "runtime/nn/functional.h"
#include "runtime/nn/init.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/flatten.h"

namespace tenon::nn {

LinearImpl::LinearImpl(const LinearOptions& options) : options(options) { reset(); }

void LinearImpl::reset() {
  const LinearOptions& o = options;
  TENON_CHECK_VALUE(o.in_features() >= 0 && o.out_features() >= 0,
                    "[Linear] in_features and out_features must not be negative, got ",
                    o.in_features(), " and ", o.out_features());
  weight =
      register_parameter("weight", empty({o.out_features(), o.in_features()}, TensorOptions()));
  if (o.bias()) {
    bias = register_parameter("bias", empty({o.out_features()}, TensorOptions()));
  } else {
    bias = register_parameter("bias", {}, false);
  }
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (bias.defined()) {
    const auto fan_in = static_cast<double>(init::calculate_fan_in_and_fan_out(weight).first);
    const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
    init::uniform_(bias, -bound, bound);
  }
}

Tensor LinearImpl::forward(const Tensor& input) { return functional::linear(input, weight, bias); }

void LinearImpl::pretty_print(std::ostream& out) const {
  out << "Linear(in_features=" << options.in_features()
      << ", out_features=" << options.out_features()
      << ", bias=" << (options.bias() ? "true" : "false") << ')';
}

Tensor FlattenImpl::forward(const Tensor& input) {
  return tenon::flatten(input, options.start_dim(), options.end_dim());
}

void FlattenImpl::pretty_print(std::ostream& out) const {
  out << "Flatten(start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim() << ')';
}

}  // namespace tenon::nn
