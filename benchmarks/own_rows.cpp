// A user's own row operators, from YAML alone, against what PyTorch has for the same: forward
// alone, and forward, sum and backward.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"

#ifdef BENCH_TORCH

namespace custom = torch;

namespace {

t::Tensor layer_norm(const t::Tensor& x, const t::Tensor& weight, const t::Tensor& bias) {
  return t::layer_norm(x, {x.size(1)}, weight, bias, 1e-5);
}
/// As users write it; the library's own function is `rms_norm_of_library`.
t::Tensor rms_norm(const t::Tensor& x, const t::Tensor& weight) {
  return x * t::rsqrt(x.pow(2).mean(-1, true) + 1e-6) * weight;
}
t::Tensor rms_norm_of_library(const t::Tensor& x, const t::Tensor& weight) {
  return t::rms_norm(x, {x.size(1)}, weight, 1e-6);
}
t::Tensor cross_entropy(const t::Tensor& x, const t::Tensor& target) {
  return t::cross_entropy_loss(x, target);
}
t::Tensor variance(const t::Tensor& x, t::IntArrayRef dim) { return t::var(x, dim, true); }
t::Tensor variance(const t::Tensor& x) { return t::var(x, true); }

}  // namespace

#else

#include "custom/ops/amax.h"
#include "custom/ops/cross_entropy.h"
#include "custom/ops/layer_norm.h"
#include "custom/ops/log_softmax.h"
#include "custom/ops/logsumexp.h"
#include "custom/ops/rms_norm.h"
#include "custom/ops/softmax.h"
#include "custom/ops/sum.h"
#include "custom/ops/var.h"
#include "tenon/ops/randint.h"

namespace {

t::Tensor layer_norm(const t::Tensor& x, const t::Tensor& weight, const t::Tensor& bias) {
  return std::get<0>(custom::layer_norm(x, weight, bias, 1e-5));
}
t::Tensor rms_norm(const t::Tensor& x, const t::Tensor& weight) {
  return custom::rms_norm(x, weight);
}
t::Tensor rms_norm_of_library(const t::Tensor& x, const t::Tensor& weight) {
  return custom::rms_norm(x, weight);
}
t::Tensor cross_entropy(const t::Tensor& x, const t::Tensor& target) {
  return custom::cross_entropy(x, target).mean();
}
t::Tensor variance(const t::Tensor& x, t::IntArrayRef dim) { return custom::var(x, dim); }
t::Tensor variance(const t::Tensor& x) { return custom::var(x); }

}  // namespace

#endif

using bench::keep;

namespace {

constexpr double kBytes = 4.0 * 4096 * 1024;

void forward(bench::Runner& run, const t::Tensor& x) {
  const t::NoGradGuard no_grad;
  run("own_rows/softmax/4096x1024", {.bytes = 2 * kBytes}, [&] { keep(custom::softmax(x, 1)); });
  run("own_rows/log_softmax/4096x1024", {.bytes = 2 * kBytes},
      [&] { keep(custom::log_softmax(x, 1)); });
  run("own_rows/sum_dim1/4096x1024", {.bytes = kBytes},
      [&] { keep(custom::sum(x, t::IntArrayRef{1})); });
  run("own_rows/amax_dim1/4096x1024", {.bytes = kBytes},
      [&] { keep(custom::amax(x, t::IntArrayRef{1})); });
  run("own_rows/var_dim1/4096x1024", {.bytes = kBytes}, [&] { keep(variance(x, {1})); });
  run("own_rows/sum/4096x1024", {.bytes = kBytes}, [&] { keep(custom::sum(x)); });
  run("own_rows/var/4096x1024", {.bytes = kBytes}, [&] { keep(variance(x)); });
}

/// `function` of the leaves, its sum, and the gradients of all.
template <class F>
void train(bench::Runner& run, const std::string& name, double bytes, std::vector<t::Tensor> leaves,
           F&& function) {
  run("own_rows/" + name, {.bytes = bytes}, [&] {
    function().sum().backward();
    for (t::Tensor& leaf : leaves) leaf.mutable_grad().reset();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  const t::Tensor x = bench::leaf(bench::random({4096, 1024}));
  const t::Tensor weight = bench::leaf(bench::random({1024})),
                  bias = bench::leaf(bench::random({1024}));
  forward(run, x);
  train(run, "softmax_backward/4096x1024", 5 * kBytes, {x}, [&] { return custom::softmax(x, 1); });
  train(run, "logsumexp_backward/4096x1024", 3 * kBytes, {x},
        [&] { return custom::logsumexp(x, t::IntArrayRef{1}); });
  train(run, "layer_norm_backward/4096x1024", 5 * kBytes, {x, weight, bias},
        [&] { return layer_norm(x, weight, bias); });
  train(run, "rms_norm_backward/4096x1024", 5 * kBytes, {x, weight},
        [&] { return rms_norm(x, weight); });
  train(run, "rms_norm_of_library_backward/4096x1024", 5 * kBytes, {x, weight},
        [&] { return rms_norm_of_library(x, weight); });
  if (run.wants("own_rows/cross_entropy_backward/2048x32000")) {
    const t::Tensor scores = bench::leaf(bench::random({2048, 32000}));
    const t::Tensor target = t::randint(32000, {2048}, t::kLong);
    train(run, "cross_entropy_backward/2048x32000", 3.0 * 4 * 2048 * 32000, {scores},
          [&] { return cross_entropy(scores, target); });
  }
}
