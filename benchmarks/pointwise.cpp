// Elementwise operators: bound by memory at 16 M elements, with outputs fresh and given, and by
// arithmetic in cache.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "tenon/ops/add.h"
#include "tenon/ops/clamp_min.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/erf.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/expm1.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/log1p.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/relu.h"
#include "tenon/ops/rsqrt.h"
#include "tenon/ops/sigmoid.h"
#include "tenon/ops/sin.h"
#include "tenon/ops/tanh.h"
#include "tenon/ops/where.h"
#endif

using bench::keep;

namespace {

constexpr int64_t kLarge = int64_t{1} << 24;
constexpr int64_t kMiddle = int64_t{1} << 20;
constexpr int64_t kCached = int64_t{1} << 16;

bench::Work bytes(int64_t n, int operands) {
  return {.bytes = 4.0 * operands * static_cast<double>(n)};
}

void large(bench::Runner& run) {
  const t::Tensor a = bench::random({kLarge}), b = bench::random({kLarge});
  t::Tensor out = t::empty({kLarge});
  run("fresh/add/16M", bytes(kLarge, 3), [&] { keep(a + b); });
  run("fresh/mul/16M", bytes(kLarge, 3), [&] { keep(a * b); });
  run("fresh/relu/16M", bytes(kLarge, 2), [&] { keep(t::relu(a)); });
  run("given/add/16M", bytes(kLarge, 3), [&] { keep(t::add_out(out, a, b)); });
  run("given/mul/16M", bytes(kLarge, 3), [&] { keep(t::mul_out(out, a, b)); });
  // PyTorch has no kernel for relu with a given output; clamp_min is what its relu calls.
  run("given/relu/16M", bytes(kLarge, 2), [&] { keep(t::clamp_min_out(out, a, 0)); });
  const t::Tensor square = a.view({4096, 4096}), other = b.view({4096, 4096});
  run("strided/transposed_add/16M", bytes(kLarge, 3), [&] { keep(square.t() + other); });
  run("strided/transpose_contiguous/16M", bytes(kLarge, 2), [&] { keep(square.t().contiguous()); });
}

void middle(bench::Runner& run) {
  const t::Tensor a = bench::random({kMiddle});
  t::Tensor out = t::empty({kMiddle});
  run("middle/exp/1M", bytes(kMiddle, 2), [&] { keep(t::exp_out(out, a)); });
  run("middle/tanh/1M", bytes(kMiddle, 2), [&] { keep(t::tanh_out(out, a)); });
  run("middle/sigmoid/1M", bytes(kMiddle, 2), [&] { keep(t::sigmoid_out(out, a)); });
  run("middle/gelu/1M", bytes(kMiddle, 2), [&] { keep(t::gelu_out(out, a)); });
  const t::Tensor mask = a > 0, other = bench::random({kMiddle});
  run("middle/where/1M", bytes(kMiddle, 3), [&] { keep(t::where(mask, a, other)); });
}

void cached(bench::Runner& run) {
  const t::Tensor a = bench::random({kCached}), positive = t::rand({kCached});
  t::Tensor out = t::empty({kCached});
  const bench::Work work = bytes(kCached, 2);
  run("cached/exp/64K", work, [&] { keep(t::exp_out(out, a)); });
  run("cached/tanh/64K", work, [&] { keep(t::tanh_out(out, a)); });
  run("cached/sigmoid/64K", work, [&] { keep(t::sigmoid_out(out, a)); });
  run("cached/erf/64K", work, [&] { keep(t::erf_out(out, a)); });
  run("cached/log1p/64K", work, [&] { keep(t::log1p_out(out, positive)); });
  run("cached/expm1/64K", work, [&] { keep(t::expm1_out(out, a)); });
  run("cached/sin/64K", work, [&] { keep(t::sin_out(out, a)); });
  run("cached/rsqrt/64K", work, [&] { keep(t::rsqrt_out(out, positive)); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  t::NoGradGuard no_grad;
  large(run);
  middle(run);
  cached(run);
}
