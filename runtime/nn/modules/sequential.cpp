#include "runtime/nn/modules/sequential.h"

namespace tenon::nn {

Tensor SequentialImpl::forward(const Tensor& input) {
  TENON_CHECK(!is_empty(), "[Sequential] Cannot call forward() on an empty Sequential");
  Tensor x = input;
  for (const auto& step : steps_) x = step(x);
  return x;
}

std::shared_ptr<Module> SequentialImpl::ptr(size_t index) const {
  TENON_CHECK_INDEX(index < size(), "[Sequential] index must be below ", size(), ", got ", index);
  return children()[index];
}

}  // namespace tenon::nn
