// Attention over sequences of different lengths, and the loss of sequences without an alignment:
// forward, and with gradients.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "autograd/autograd.h"
#include "tenon/ops/ctc_loss.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/scaled_dot_product_attention.h"
#endif

using bench::keep;

namespace {

using Tensors = std::vector<t::Tensor>;

constexpr int64_t kHeads = 8, kWidth = 64;

/// Times f(), and f() with the gradients of `inputs`, which takes 3.5 times the work if each
/// product is computed once.
template <class F>
void both(bench::Runner& run, const std::string& name, double flops, const Tensors& inputs, F&& f) {
  run(name + "/forward", {.flops = flops}, [&] {
    t::NoGradGuard no_grad;
    keep(f());
  });
  if (!run.wants(name + "/gradient")) return;
  for (t::Tensor x : inputs) x.requires_grad_(true);
  const t::Tensor seed = t::ones_like(f()).detach();
  run(name + "/gradient", {.flops = 3.5 * flops},
      [&] { keep(t::autograd::grad({f()}, inputs, {seed})); });
}

enum class Mask { None, Causal, Added, Chosen };

void attention(bench::Runner& run, const char* name, int64_t steps, Mask kind) {
  const std::string full = "attention/" + std::string(name) + "/" + std::to_string(steps);
  if (!run.wants(full + "/forward") && !run.wants(full + "/gradient")) return;
  const t::Tensor q = bench::random({1, kHeads, steps, kWidth});
  const t::Tensor k = bench::random({1, kHeads, steps, kWidth});
  const t::Tensor v = bench::random({1, kHeads, steps, kWidth});
  std::optional<t::Tensor> mask;
  if (kind == Mask::Added) mask = bench::random({steps, steps});
  if (kind == Mask::Chosen) mask = bench::random({steps, steps}) > -0.5;
  const bool causal = kind == Mask::Causal;
  const double area = static_cast<double>(steps * steps) * (causal ? 0.5 : 1);
  both(run, full, 4 * kHeads * kWidth * area, {q, k, v},
       [&] { return t::scaled_dot_product_attention(q, k, v, mask, 0.0, causal); });
}

void sequences(bench::Runner& run, int64_t steps, int64_t batch, int64_t labels, int64_t length) {
  const std::string name = "ctc_loss/" + std::to_string(steps) + "x" + std::to_string(batch);
  const t::Tensor log_probs = t::log_softmax(bench::random({steps, batch, labels}), 2);
  const t::Tensor targets = t::randint(1, labels, {batch, length}, t::kLong);
  const std::vector<int64_t> all(static_cast<size_t>(batch), steps);
  const std::vector<int64_t> lengths(static_cast<size_t>(batch), length);
  both(run, name, 0, {log_probs}, [&] { return t::ctc_loss(log_probs, targets, all, lengths); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  for (const int64_t steps : {128, 1024, 4096}) {
    attention(run, "full", steps, Mask::None);
    attention(run, "causal", steps, Mask::Causal);
  }
  attention(run, "added", 1024, Mask::Added);
  attention(run, "chosen", 1024, Mask::Chosen);
  sequences(run, 150, 16, 40, 40);
}
