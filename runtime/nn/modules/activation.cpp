#include "runtime/nn/modules/activation.h"

#include "runtime/nn/functional.h"
#include "tenon/ops/sigmoid.h"
#include "tenon/ops/tanh.h"

namespace tenon::nn {

Tensor ReLUImpl::forward(const Tensor& input) { return functional::relu(input, options); }
Tensor LeakyReLUImpl::forward(const Tensor& input) {
  return functional::leaky_relu(input, options);
}
Tensor GELUImpl::forward(const Tensor& input) { return functional::gelu(input, options); }
Tensor SiLUImpl::forward(const Tensor& input) { return functional::silu(input); }
Tensor SigmoidImpl::forward(const Tensor& input) { return tenon::sigmoid(input); }
Tensor TanhImpl::forward(const Tensor& input) { return tenon::tanh(input); }
Tensor SoftmaxImpl::forward(const Tensor& input) { return functional::softmax(input, options); }
Tensor LogSoftmaxImpl::forward(const Tensor& input) {
  return functional::log_softmax(input, options);
}

DropoutImpl::DropoutImpl(const DropoutOptions& o) : options(o) {
  TENON_CHECK_VALUE(o.p() >= 0 && o.p() <= 1, "[Dropout] p must be in [0, 1], got ", o.p());
}

Tensor DropoutImpl::forward(const Tensor& input) {
  Tensor result = functional::dropout(
      input, functional::DropoutFuncOptions().p(options.p()).training(is_training()));
  return options.inplace() && is_training() ? Tensor(input).copy_(result) : result;
}

void DropoutImpl::pretty_print(std::ostream& out) const {
  out << "Dropout(p=" << options.p() << ", inplace=" << (options.inplace() ? "true" : "false")
      << ')';
}

}  // namespace tenon::nn
