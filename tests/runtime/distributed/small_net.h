#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/core/thread_state.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/div.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/tanh.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"

namespace tenon::test {

/// Numbers that look random and are the same on every platform: n of the sequence `seed`.
inline Tensor numbers(int64_t rows, int64_t columns, int seed) {
  Tensor t = zeros({rows, columns}, TensorOptions(kDouble));
  uint64_t state = static_cast<uint64_t>(seed) * 2654435761u + 12345;
  for (int64_t i = 0; i < rows * columns; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    t.data_ptr<double>()[i] = static_cast<double>(state >> 40) / (1 << 24) - 0.5;
  }
  return t;
}

inline void fill(nn::Module& module, int seed) {
  const NoGradGuard no_grad;
  module.to(kDouble);
  for (Tensor& p : module.parameters()) p.copy_(numbers(p.numel(), 1, seed++).view(p.sizes()));
}

/// Two layers, and one that only some calls use.
struct NetImpl : nn::Module {
  NetImpl() {
    first = register_module("first", nn::Linear(3, 5));
    second = register_module("second", nn::Linear(5, 2));
    extra = register_module("extra", nn::Linear(2, 2));
  }
  Tensor forward(const Tensor& x, bool use_extra = true) {
    const Tensor y = second(tanh(first(x)));
    return use_extra ? extra(y) : y;
  }
  nn::Linear first{nullptr}, second{nullptr}, extra{nullptr};
};
TENON_MODULE(Net);

inline void step(nn::Module& module, double rate = 0.1) {
  const NoGradGuard no_grad;
  for (Tensor& p : module.parameters()) {
    if (p.grad().defined()) p.sub_(p.grad() * rate);
  }
}

inline Tensor loss_of(const Tensor& out) {
  return (out * out).sum() / static_cast<double>(out.size(0));
}

/// The largest difference; 1e300 if sizes differ or there is something that is no number.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return 1e300;
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    if (!std::isfinite(apart)) return 1e300;
    worst = std::max(worst, apart);
  }
  return worst;
}

}  // namespace tenon::test
