#pragma once

#include "runtime/nn/nn.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/relu.h"

/// LeCun et al., Gradient-based learning applied to document recognition (1998), with ReLU and max
/// pooling: [N, 1, 28, 28] to scores [N, 10].
class LeNetImpl : public tenon::nn::Module {
 public:
  LeNetImpl() {
    using namespace tenon::nn;
    conv1 = register_module("conv1", Conv2d(Conv2dOptions(1, 6, 5).padding(2)));
    conv2 = register_module("conv2", Conv2d(Conv2dOptions(6, 16, 5)));
    fc1 = register_module("fc1", Linear(16 * 5 * 5, 120));
    fc2 = register_module("fc2", Linear(120, 84));
    fc3 = register_module("fc3", Linear(84, 10));
  }

  tenon::Tensor forward(tenon::Tensor x) {
    x = tenon::max_pool2d(tenon::relu(conv1(x)), 2);
    x = tenon::max_pool2d(tenon::relu(conv2(x)), 2);
    x = tenon::relu(fc1(x.flatten(1)));
    x = tenon::relu(fc2(x));
    return fc3(x);
  }

 private:
  tenon::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  tenon::nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
TENON_MODULE(LeNet);
