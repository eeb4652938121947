#include "runtime/nn/modules/pooling.h"

#include "runtime/nn/functional.h"

namespace tenon::nn {

Tensor MaxPool2dImpl::forward(const Tensor& input) {
  return functional::max_pool2d(input, options);
}

void MaxPool2dImpl::pretty_print(std::ostream& out) const {
  out << "MaxPool2d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
      << ", padding=" << options.padding() << ')';
}

Tensor AvgPool2dImpl::forward(const Tensor& input) {
  return functional::avg_pool2d(input, options);
}

void AvgPool2dImpl::pretty_print(std::ostream& out) const {
  out << "AvgPool2d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
      << ", padding=" << options.padding() << ')';
}

}  // namespace tenon::nn
