#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"
#include "tenon/nn/modules/conv.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/relu.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

/// LeNet for 14 x 14 pixels.
struct Network {
  nn::Conv2d conv1{nn::Conv2dOptions(1, 6, 5).padding(2)}, conv2{nn::Conv2dOptions(6, 16, 3)};
  nn::Linear fc1{nn::Linear(64, 30)}, fc2{nn::Linear(30, 10)};

  Tensor operator()(Tensor x) {
    x = tenon::max_pool2d(tenon::relu(conv1(x)), 2);
    x = tenon::max_pool2d(tenon::relu(conv2(x)), 2);
    return fc2(tenon::relu(fc1(x.flatten(1))));
  }
  void to(Device device) {
    conv1->to(device);
    conv2->to(device);
    fc1->to(device);
    fc2->to(device);
  }
  std::vector<Tensor> parameters() {
    std::vector<Tensor> all;
    for (const auto& part :
         {conv1->parameters(), conv2->parameters(), fc1->parameters(), fc2->parameters()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

/// The losses of five steps from the seed's parameters.
template <class Optimizer, class Options>
std::vector<double> losses(Device device, const Options& options) {
  manual_seed(3);
  Network net;
  net.to(device);
  Optimizer optimizer(net.parameters(), options);
  const Tensor images = sample({8, 1, 14, 14}, kFloat).to(device);
  const Tensor labels = tenon::arange(8).to(device);
  std::vector<double> result;
  for (int step = 0; step < 5; ++step) {
    const Tensor loss = tenon::cross_entropy_loss(net(images), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    result.push_back(loss.item<double>());
  }
  return result;
}

void same(const std::vector<double>& cpu, const std::vector<double>& cuda) {
  REQUIRE(cpu.size() == cuda.size());
  for (size_t i = 0; i < cpu.size(); ++i) CHECK(cuda[i] == Approx(cpu[i]).epsilon(1e-4));
  CHECK(cuda.back() < cuda.front());
}

TEST_CASE("LeNet's losses are the CPU's") {
  TENON_NEEDS_GPU();
  const optim::SGDOptions sgd = optim::SGDOptions(0.1).momentum(0.9);
  same(losses<optim::SGD>(kCPU, sgd), losses<optim::SGD>(kCUDA, sgd));
  const optim::AdamOptions adam(0.01);
  same(losses<optim::Adam>(kCPU, adam), losses<optim::Adam>(kCUDA, adam));
}

}  // namespace
}  // namespace tenon::test
