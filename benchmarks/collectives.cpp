// Collectives and data parallel training between the ranks of a run: started by collectives.py,
// whose PyTorch side does the same. One JSON line for each case, from rank 0.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "runtime/distributed/distributed.h"
#include "runtime/nn/nn.h"
#include "runtime/optim/optim.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/relu.h"
#include "tenon/ops/zeros.h"

namespace {

using namespace tenon;

void measure(const std::string& name, int warm_up, int repetitions,
             const std::function<void()>& f) {
  for (int i = 0; i < warm_up; ++i) f();
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  if (distributed::get_rank() == 0)
    std::printf("{\"name\": \"%s\", \"median\": %.9f, \"p90\": %.9f}\n", name.c_str(),
                times[times.size() / 2], times[times.size() * 9 / 10]);
  std::fflush(stdout);
}

class LeNetImpl : public nn::Module {
 public:
  LeNetImpl() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 16, 5)));
    fc1 = register_module("fc1", nn::Linear(16 * 5 * 5, 120));
    fc2 = register_module("fc2", nn::Linear(120, 84));
    fc3 = register_module("fc3", nn::Linear(84, 10));
  }
  Tensor forward(Tensor x) {
    x = max_pool2d(relu(conv1(x)), 2);
    x = max_pool2d(relu(conv2(x)), 2);
    x = relu(fc1(x.flatten(1)));
    return fc3(relu(fc2(x)));
  }

 private:
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
TENON_MODULE(LeNet);

template <class Net>
std::function<void()> training_step(Net& net, nn::Module& module) {
  const auto optimizer = std::make_shared<optim::SGD>(module.parameters(), optim::SGDOptions(0.01));
  const Tensor x = randn({32, 1, 28, 28}, TensorOptions(kFloat));
  const Tensor y = zeros({32}, TensorOptions(kLong));
  return [=, &net] {
    optimizer->zero_grad();
    nn::functional::cross_entropy(net(x), y).backward();
    optimizer->step();
  };
}

}  // namespace

int main() {
  distributed::init_process_group();
  for (const int64_t bytes : {int64_t{4}, int64_t{64} << 10, int64_t{1} << 20, int64_t{64} << 20}) {
    const Tensor t = zeros({bytes / 4}, TensorOptions(kFloat));
    const int repetitions = bytes > (1 << 20) ? 20 : 1000;
    measure("all_reduce " + std::to_string(bytes), repetitions / 10, repetitions,
            [&] { distributed::all_reduce(t); });
  }
  LeNet alone;
  const auto step_alone = training_step(alone, *alone);
  measure("LeNet step without DDP", 50, 500, step_alone);
  LeNet net;
  distributed::DistributedDataParallel<LeNet> ddp(net);
  measure("LeNet step with DDP", 50, 500, training_step(ddp, *net));
  distributed::barrier();
  distributed::destroy_process_group();
}
