// Matrix products and convolutions.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "tenon/ops/bmm.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/convolution.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/matmul.h"
#endif

using bench::keep;

namespace {

void matmul(bench::Runner& run) {
  t::NoGradGuard no_grad;
  for (const int64_t n : {256, 512, 1024, 2048}) {
    const std::string name = "matmul/" + std::to_string(n);
    if (!run.wants(name)) continue;
    const t::Tensor a = bench::random({n, n}), b = bench::random({n, n});
    const auto size = static_cast<double>(n);
    run(name, {.flops = 2 * size * size * size}, [&] { keep(t::matmul(a, b)); });
  }
  const t::Tensor w = bench::random({1024, 1024}), x = bench::random({64, 1024}),
                  bias = bench::random({1024});
  run("linear/64x1024x1024", {.flops = 2.0 * 64 * 1024 * 1024},
      [&] { keep(t::linear(x, w, bias)); });
  const t::Tensor a = bench::random({32, 128, 128}), b = bench::random({32, 128, 128});
  run("bmm/32x128", {.flops = 2.0 * 32 * 128 * 128 * 128}, [&] { keep(t::bmm(a, b)); });
}

void convolution(bench::Runner& run) {
  const t::Tensor x = bench::leaf(bench::random({8, 64, 56, 56})),
                  w = bench::leaf(bench::random({64, 64, 3, 3}));
  const double flops = 2.0 * 8 * 64 * 64 * 9 * 56 * 56;
  {
    t::NoGradGuard no_grad;
    run("conv/3x3_64@56/forward", {.flops = flops},
        [&] { keep(t::conv2d(x, w, {}, /*stride=*/1, /*padding=*/1)); });
  }
  const t::Tensor grad = bench::random({8, 64, 56, 56});
  run("conv/3x3_64@56/forward_backward", {.flops = 3 * flops}, [&] {
    t::conv2d(x, w, {}, /*stride=*/1, /*padding=*/1).backward(grad);
    x.mutable_grad().reset();
    w.mutable_grad().reset();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  matmul(run);
  convolution(run);
}
