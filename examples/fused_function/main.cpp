// A function of tensors as one operator: the kernels and their derivative are built when it is
// first called. docs/transforms.md.
#include "runtime/fusion/fused.h"

#include <chrono>
#include <cstdio>

#include "autograd/autograd.h"
#include "tenon/ops.h"

using namespace tenon;

namespace {

/// Root-mean-square norm and a gate, as in feed-forward layers.
Tensor block(const Tensor& x, const Tensor& weight, const Tensor& gate) {
  const Tensor scale = rsqrt(x.square().mean({-1}, true) + 1e-6);
  return x * scale * weight * silu(gate);
}

template <class F>
double milliseconds(const F& f) {
  f();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
             .count() /
         20;
}

}  // namespace

int main() {
  const Tensor x = randn({1024, 512}).set_requires_grad(true), weight = randn({512}),
               gate = randn({1024, 512});
  const auto fast = fused(block, {.name = "block"});
  const Tensor y = fast(x, weight, gate), expected = block(x, weight, gate);
  const Tensor gradient = autograd::grad({y.sum()}, {x})[0];
  const bool same = allclose(y, expected, 1e-4, 1e-5) &&
                    allclose(gradient, autograd::grad({expected.sum()}, {x})[0], 1e-4, 1e-5);
  const NoGradGuard guard;
  std::printf("as the function: %s\n", same ? "yes" : "no");
  std::printf("one operator: %.2f ms, one by one: %.2f ms\n",
              milliseconds([&] { fast(x, weight, gate); }),
              milliseconds([&] { block(x, weight, gate); }));
  return same ? 0 : 1;
}
