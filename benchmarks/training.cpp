// Training steps: LeNet on 28x28 images, a network with batch norm, a transformer block, a small
// perceptron; and the optimizers by themselves.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "runtime/nn/module.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/adamw.h"
#include "runtime/optim/sgd.h"
#include "tenon/nn/modules/batchnorm.h"
#include "tenon/nn/modules/conv.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/nn/modules/normalization.h"
#include "tenon/ops/adaptive_avg_pool2d.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/relu.h"
#include "tenon/ops/softmax.h"
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

/// Two blocks of convolution, batch norm and pooling, then the classes.
struct ConvNetImpl : t::nn::Module {
  ConvNetImpl() {
    conv1 = register_module("conv1", t::nn::Conv2d(t::nn::Conv2dOptions(3, 32, 3).padding(1)));
    norm1 = register_module("norm1", t::nn::BatchNorm2d(32));
    conv2 = register_module("conv2", t::nn::Conv2d(t::nn::Conv2dOptions(32, 64, 3).padding(1)));
    norm2 = register_module("norm2", t::nn::BatchNorm2d(64));
    fc = register_module("fc", t::nn::Linear(64, 10));
  }
  t::Tensor forward(t::Tensor x) {
    x = t::max_pool2d(t::relu(norm1(conv1(x))), 2);
    x = t::relu(norm2(conv2(x)));
    return fc(t::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  t::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  t::nn::BatchNorm2d norm1{nullptr}, norm2{nullptr};
  t::nn::Linear fc{nullptr};
};
BENCH_MODULE(ConvNet);

/// A transformer block: self-attention of four heads and a feed-forward part, [batch, steps,
/// width].
struct BlockImpl : t::nn::Module {
  explicit BlockImpl(int64_t width) {
    qkv = register_module("qkv", t::nn::Linear(width, 3 * width));
    out = register_module("out", t::nn::Linear(width, width));
    up = register_module("up", t::nn::Linear(width, 4 * width));
    down = register_module("down", t::nn::Linear(4 * width, width));
    const std::vector<int64_t> shape{width};
    norm1 = register_module("norm1", t::nn::LayerNorm(t::nn::LayerNormOptions(shape)));
    norm2 = register_module("norm2", t::nn::LayerNorm(t::nn::LayerNormOptions(shape)));
  }
  t::Tensor forward(t::Tensor x) {
    const int64_t batch = x.size(0), steps = x.size(1), width = x.size(2);
    const t::Tensor parts =
        qkv(norm1(x)).view({batch, steps, 3, kHeads, width / kHeads}).permute({2, 0, 3, 1, 4});
    const t::Tensor q = parts.select(0, 0), k = parts.select(0, 1), v = parts.select(0, 2);
    const t::Tensor scores = t::matmul(q, k.transpose(2, 3)) * 0.125;
    const t::Tensor mixed = t::matmul(t::softmax(scores, -1), v);
    x = x + out(mixed.transpose(1, 2).reshape({batch, steps, width}));
    return x + down(t::gelu(up(norm2(x))));
  }

  static constexpr int64_t kHeads = 4;
  t::nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
  t::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
};
BENCH_MODULE(Block);

struct PerceptronImpl : t::nn::Module {
  PerceptronImpl() {
    first = register_module("first", t::nn::Linear(64, 64));
    second = register_module("second", t::nn::Linear(64, 64));
    third = register_module("third", t::nn::Linear(64, 10));
  }
  t::Tensor forward(const t::Tensor& x) { return third(t::relu(second(t::relu(first(x))))); }
  t::nn::Linear first{nullptr}, second{nullptr}, third{nullptr};
};
BENCH_MODULE(Perceptron);

void networks(bench::Runner& run) {
  if (run.wants("convnet/step/b32")) {
    ConvNet net;
    t::optim::SGD optimizer(net->parameters(), t::optim::SGDOptions(0.01).momentum(0.9));
    const t::Tensor x = bench::random({32, 3, 32, 32}), target = t::randint(10, {32}, t::kLong);
    run("convnet/step/b32", {}, [&] {
      optimizer.zero_grad();
      t::cross_entropy_loss(net(x), target).backward();
      optimizer.step();
    });
  }
  if (run.wants("transformer/step/8x128x256")) {
    Block block(256);
    t::optim::AdamW optimizer(block->parameters(), t::optim::AdamWOptions(1e-4));
    const t::Tensor x = bench::random({8, 128, 256});
    run("transformer/step/8x128x256", {}, [&] {
      optimizer.zero_grad();
      block(x).square().mean().backward();
      optimizer.step();
    });
  }
  for (const int64_t batch : {1, 64}) {
    const std::string name = "mlp/step/b" + std::to_string(batch);
    if (!run.wants(name)) continue;
    Perceptron net;
    t::optim::SGD optimizer(net->parameters(), t::optim::SGDOptions(0.01));
    const t::Tensor x = bench::random({batch, 64}), target = t::randint(10, {batch}, t::kLong);
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
  networks(run);
  optimizer<t::optim::SGD>(run, "optim/sgd_momentum/10x1M",
                           t::optim::SGDOptions(0.01).momentum(0.9), 5);
  optimizer<t::optim::Adam>(run, "optim/adam/10x1M", t::optim::AdamOptions(1e-3), 7);
}
