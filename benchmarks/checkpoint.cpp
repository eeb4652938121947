// A training step of 24 transformer blocks, plain and with each block checkpointed; beside the
// time, the bytes that a step takes for its activations. PyTorch's side, which has checkpointing
// only in Python, is checkpoint.py.
#include "autograd/checkpoint/checkpoint.h"

#include "aten/core/allocator.h"
#include "autograd/call_mode.h"
#include "autograd/engine/node_observer.h"
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#include "runtime/nn/module.h"
#include "tenon/nn/modules/batchnorm.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/nn/modules/normalization.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/softmax.h"

namespace {

constexpr int64_t kBlocks = 24, kBatch = 4, kSteps = 128, kWidth = 256, kHeads = 4;

/// The transformer block of training.cpp.
struct BlockImpl : t::nn::Module {
  BlockImpl() {
    qkv = register_module("qkv", t::nn::Linear(kWidth, 3 * kWidth));
    out = register_module("out", t::nn::Linear(kWidth, kWidth));
    up = register_module("up", t::nn::Linear(kWidth, 4 * kWidth));
    down = register_module("down", t::nn::Linear(4 * kWidth, kWidth));
    const std::vector<int64_t> shape{kWidth};
    norm1 = register_module("norm1", t::nn::LayerNorm(t::nn::LayerNormOptions(shape)));
    norm2 = register_module("norm2", t::nn::LayerNorm(t::nn::LayerNormOptions(shape)));
  }
  t::Tensor forward(t::Tensor x) {
    const t::Tensor parts =
        qkv(norm1(x)).view({kBatch, kSteps, 3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4});
    const t::Tensor q = parts.select(0, 0), k = parts.select(0, 1), v = parts.select(0, 2);
    const t::Tensor scores = t::matmul(q, k.transpose(2, 3)) * 0.125;
    const t::Tensor mixed = t::matmul(t::softmax(scores, -1), v);
    x = x + out(mixed.transpose(1, 2).reshape({kBatch, kSteps, kWidth}));
    return x + down(t::gelu(up(norm2(x))));
  }
  t::nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
  t::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
};
BENCH_MODULE(Block);

/// The most bytes that were handed out, looked at after each operator and each node.
size_t peak;
void look() { peak = std::max(peak, tenon::memory::stats().live_bytes); }

class Watch final : public t::autograd::CallMode {
 public:
  void call(const t::OperatorEntry& op, t::DispatchKeySet keys, t::Stack& stack) override {
    go_on(op, keys, stack);
    look();
  }
};
constexpr t::autograd::NodeObserver kWatchNodes = {
    [](const t::autograd::Node&) { look(); }, [](const t::autograd::Node&) noexcept { look(); }};

/// Of one call: the peak over what was there before.
template <class F>
size_t bytes_of(F&& body) {
  body();  // gradients of parameters are there from now on
  Watch watch;
  const t::autograd::CallModeGuard guard(watch);
  t::autograd::node_observer = &kWatchNodes;
  const size_t before = peak = tenon::memory::stats().live_bytes;
  body();
  t::autograd::node_observer = nullptr;
  return peak - before;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  if (!run.wants("checkpoint/plain") && !run.wants("checkpoint/each")) return 0;
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  std::vector<Block> blocks;
  for (int64_t i = 0; i < kBlocks && !run.listing(); ++i) blocks.emplace_back();
  const t::Tensor x = bench::random({kBatch, kSteps, kWidth}).set_requires_grad(true);
  const auto plain = [&] {
    t::Tensor y = x;
    for (Block& block : blocks) y = block(y);
    y.sum().backward();
  };
  const auto each = [&] {
    t::Tensor y = x;
    for (Block& block : blocks) {
      y = t::autograd::checkpoint([&block](const t::Tensor& in) { return block(in); }, y,
                                  {.use_reentrant = false});
    }
    y.sum().backward();
  };
  const auto measure = [&](const char* name, const auto& step) {
    if (!run.wants(name)) return;
    bench::Work work;
    if (!run.listing()) work.memory = static_cast<double>(bytes_of(step));
    run(name, work, step);
  };
  measure("checkpoint/plain", plain);
  measure("checkpoint/each", each);
}
