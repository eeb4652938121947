// Losses over images, scans, windows, orders, recurrent layers, complex numbers: forward, and with
// gradients.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "autograd/autograd.h"
#include "tenon/ops/_unique2.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/adaptive_max_pool2d.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/cumprod.h"
#include "tenon/ops/group_norm.h"
#include "tenon/ops/gru.h"
#include "tenon/ops/lstm.h"
#include "tenon/ops/median.h"
#include "tenon/ops/nll_loss_nd.h"
#include "tenon/ops/one_hot.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/pad.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/searchsorted.h"
#include "tenon/ops/sort.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/zeros.h"
#endif

using bench::keep;

namespace {

using Tensors = std::vector<t::Tensor>;

/// Times f(), and f() with the gradients of `inputs`.
template <class F>
void both(bench::Runner& run, const std::string& name, const Tensors& inputs, F&& f) {
  run(name + "/forward", {}, [&] {
    t::NoGradGuard no_grad;
    keep(f());
  });
  if (!run.wants(name + "/gradient")) return;
  for (t::Tensor x : inputs) x.requires_grad_(true);
  const t::Tensor seed = t::ones_like(f()).detach();
  run(name + "/gradient", {}, [&] { keep(t::autograd::grad({f()}, inputs, {seed})); });
}

t::Tensor integers(int64_t bound, std::vector<int64_t> sizes) {
  return t::randint(bound, sizes, t::kLong);
}

void losses(bench::Runner& run) {
  const t::Tensor scores = bench::random({16, 2, 256, 256});
  const t::Tensor target = integers(2, {16, 256, 256});
  both(run, "loss/cross_entropy/16x2@256", {scores},
       [&] { return t::cross_entropy_loss(scores, target); });
  both(run, "loss/nll/16x2@256", {scores}, [&] { return t::nll_loss_nd(scores, target); });
}

void scans(bench::Runner& run) {
  const t::Tensor x = bench::random({1024, 1024}).mul_(0.1).add_(1);
  both(run, "scan/cumprod_dim1/1024x1024", {x}, [&] { return t::cumprod(x, 1); });
  both(run, "scan/cumprod_dim0/1024x1024", {x}, [&] { return t::cumprod(x, 0); });
}

void windows(bench::Runner& run) {
  const t::Tensor x = bench::random({16, 64, 56, 56});
  const std::vector<int64_t> seven{7, 7}, border{3, 3, 3, 3};
  both(run, "window/adaptive_max_7/16x64@56", {x},
       [&] { return std::get<0>(t::adaptive_max_pool2d(x, seven)); });
  both(run, "window/pad_reflect/16x64@56", {x}, [&] { return t::pad(x, border, "reflect"); });
  const t::Tensor weight = bench::random({64}), bias = bench::random({64});
  both(run, "norm/group_8/16x64@56", {x, weight, bias},
       [&] { return t::group_norm(x, 8, weight, bias); });
}

void orders(bench::Runner& run) {
  t::NoGradGuard no_grad;
  const t::Tensor few = integers(1000, {262144}), many = integers(int64_t{1} << 40, {262144});
  run("order/unique/256K_of_1000", {}, [&] { keep(t::_unique2(few)); });
  run("order/sort_i64/256K", {}, [&] { keep(t::sort(many)); });
  const t::Tensor places = std::get<0>(t::sort(bench::random({10000})));
  const t::Tensor values = bench::random({262144}), square = bench::random({1024, 1024});
  run("order/searchsorted/256K_in_10000", {}, [&] { keep(t::searchsorted(places, values)); });
  run("order/median_dim0/1024x1024", {}, [&] { keep(t::median(square, 0)); });
  const t::Tensor classes = integers(100, {16384});
  run("order/one_hot/16384x100", {}, [&] { keep(t::one_hot(classes, 100)); });
}

void recurrent(bench::Runner& run) {
  constexpr int64_t kWidth = 128;
  const t::Tensor x = bench::random({64, 16, kWidth}), state = t::zeros({1, 16, kWidth});
  const auto parameters = [](int64_t gates) {
    const double scale = 1 / 12.0;
    return Tensors{bench::random({gates * kWidth, kWidth}).mul_(scale),
                   bench::random({gates * kWidth, kWidth}).mul_(scale),
                   bench::random({gates * kWidth}).mul_(scale),
                   bench::random({gates * kWidth}).mul_(scale)};
  };
  const Tensors lstm = parameters(4), gru = parameters(3), states{state, state};
  both(run, "recurrent/lstm_128/64x16", lstm,
       [&] { return std::get<0>(t::lstm(x, states, lstm, true, 1, 0.0, true, false, false)); });
  both(run, "recurrent/gru_128/64x16", gru,
       [&] { return std::get<0>(t::gru(x, state, gru, true, 1, 0.0, true, false, false)); });
}

void complex_numbers(bench::Runner& run) {
  const t::Tensor a = t::view_as_complex(bench::random({1048576, 2}));
  const t::Tensor b = t::view_as_complex(bench::random({1048576, 2}));
  both(run, "complex/abs/1M", {a}, [&] { return t::abs(a); });
  both(run, "complex/mul/1M", {a, b}, [&] { return a * b; });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  losses(run);
  scans(run);
  windows(run);
  orders(run);
  recurrent(run);
  complex_numbers(run);
}
