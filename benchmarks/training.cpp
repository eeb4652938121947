// A training step of LeNet on 28x28 images, and the optimizers by themselves.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "runtime/nn/module.h"
#include "runtime/nn/modules/conv.h"
#include "runtime/nn/modules/linear.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/relu.h"
#endif

namespace {

struct LeNetImpl : t::nn::Module {
  LeNetImpl() {
    conv1 = register_module("conv1", t::nn::Conv2d(t::nn::Conv2dOptions(1, 6, 5).padding(2)));
    conv2 = register_module("conv2", t::nn::Conv2d(t::nn::Conv2dOptions(6, 16, 5)));
    fc1 = register_module("fc1", t::nn::Linear(16 * 5 * 5, 120));
    fc2 = register_module("fc2", t::nn::Linear(120, 84));
    fc3 = register_module("fc3", t::nn::Linear(84, 10));
  }
  t::Tensor forward(t::Tensor x) {
    x = t::max_pool2d(t::relu(conv1(x)), 2);
    x = t::max_pool2d(t::relu(conv2(x)), 2);
    x = t::relu(fc1(x.flatten(1)));
    x = t::relu(fc2(x));
    return fc3(x);
  }

  t::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  t::nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
BENCH_MODULE(LeNet);

void lenet(bench::Runner& run) {
  for (const int64_t batch : {16, 256}) {
    const std::string name = "lenet/step/b" + std::to_string(batch);
    if (!run.wants(name)) continue;
    t::manual_seed(0);
    LeNet net;
    t::optim::SGD optimizer(net->parameters(), t::optim::SGDOptions(0.01).momentum(0.9));
    const t::Tensor x = bench::random({batch, 1, 28, 28});
    const t::Tensor target = t::randint(10, {batch}, t::kLong);
    run(name, {}, [&] {
      optimizer.zero_grad();
      t::cross_entropy_loss(net(x), target).backward();
      optimizer.step();
    });
  }
}

template <class Optimizer, class Options>
void optimizer(bench::Runner& run, const std::string& name, const Options& options, int streams) {
  if (!run.wants(name)) return;
  constexpr int kTensors = 10;
  constexpr int64_t kElements = int64_t{1} << 20;
  std::vector<t::Tensor> parameters;
  for (int i = 0; i < kTensors; ++i) {
    parameters.push_back(bench::leaf(bench::random({kElements})));
    parameters.back().mutable_grad() = bench::random({kElements});
  }
  Optimizer optimizer(parameters, options);
  run(name, {.bytes = 4.0 * streams * kTensors * static_cast<double>(kElements)},
      [&] { optimizer.step(); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  lenet(run);
  optimizer<t::optim::SGD>(run, "optim/sgd_momentum/10x1M",
                           t::optim::SGDOptions(0.01).momentum(0.9), 5);
  optimizer<t::optim::Adam>(run, "optim/adam/10x1M", t::optim::AdamOptions(1e-3), 7);
}
