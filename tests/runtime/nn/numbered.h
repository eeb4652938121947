#pragma once

#include <cmath>
#include <vector>

#include "aten/core/thread_state.h"
#include "runtime/nn/module.h"
#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/div.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sub.h"
#include "tests/runtime/values.h"

namespace tenon::test {

/// Float [sizes]: element i is i / divisor - 1.
inline Tensor numbered(const std::vector<int64_t>& sizes, double divisor) {
  return (arange(numel_of(sizes), TensorOptions(kFloat)) / divisor - 1).reshape(sizes);
}

/// Element i of each parameter of n elements becomes i / n - 0.4.
inline void fill_parameters(const nn::Module& module) {
  const NoGradGuard no_grad;
  for (const Tensor& p : module.parameters()) {
    const auto n = static_cast<double>(p.numel());
    p.copy_((arange(p.numel(), TensorOptions(kFloat)) / n - 0.4).reshape(p.sizes()));
  }
}

/// Whether the elements are these, up to 2e-6.
inline bool is_near(const Tensor& tensor, const std::vector<double>& expected) {
  const std::vector<double> found = values(tensor);
  if (found.size() != expected.size()) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!(std::abs(found[i] - expected[i]) <= 2e-6 * std::max(1.0, std::abs(expected[i]))))
      return false;
  }
  return true;
}

}  // namespace tenon::test
