// Matrix products and convolutions.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "tenon/ops/bmm.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/convolution.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/randint.h"
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
  for (const int64_t n : {65, 100, 333}) {  // no powers of two
    const t::Tensor a = bench::random({n, n}), b = bench::random({n, n});
    const auto size = static_cast<double>(n);
    run("matmul/" + std::to_string(n), {.flops = 2 * size * size * size},
        [&] { keep(t::matmul(a, b)); });
  }
  const t::Tensor za = bench::random({512, 512}).to(t::kComplexFloat), zb = za + 1;
  run("matmul/complex64/512", {.flops = 8.0 * 512 * 512 * 512}, [&] { keep(t::matmul(za, zb)); });
  const t::Tensor ia = t::randint(100, {256, 256}, t::kInt), ib = ia + 1;
  run("matmul/int32/256", {.flops = 2.0 * 256 * 256 * 256}, [&] { keep(t::matmul(ia, ib)); });
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

/// The other convolutions of today's networks: groups of one channel, kernels of one pixel,
/// channels last.
void other_convolutions(bench::Runner& run) {
  const auto both = [&](const std::string& name, const t::Tensor& x, const t::Tensor& w,
                        int64_t padding, int64_t groups) {
    const double flops =
        2.0 * static_cast<double>(x.numel() * w.numel()) / static_cast<double>(x.size(1));
    {
      t::NoGradGuard no_grad;
      run("conv/" + name + "/forward", {.flops = flops},
          [&] { keep(t::conv2d(x, w, {}, /*stride=*/1, padding, /*dilation=*/1, groups)); });
    }
    const t::Tensor in = bench::leaf(x.detach()), weight = bench::leaf(w.detach());
    run("conv/" + name + "/forward_backward", {.flops = 3 * flops}, [&] {
      t::conv2d(in, weight, {}, /*stride=*/1, padding, /*dilation=*/1, groups).sum().backward();
      in.mutable_grad().reset();
      weight.mutable_grad().reset();
    });
  };
  const auto last = t::MemoryFormat::ChannelsLast;
  const t::Tensor x = bench::random({8, 144, 28, 28}), w = bench::random({144, 1, 3, 3});
  both("depthwise_144@28", x, w, 1, 144);
  both("depthwise_144@28_last", x.contiguous(last), w, 1, 144);
  both("1x1_256@28", bench::random({8, 256, 28, 28}), bench::random({128, 256, 1, 1}), 0, 1);
  const t::Tensor y = bench::random({8, 64, 56, 56}), v = bench::random({64, 64, 3, 3});
  both("3x3_64@56_last", y.contiguous(last), v.contiguous(last), 1, 1);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  matmul(run);
  convolution(run);
  other_convolutions(run);
}
