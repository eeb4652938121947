#pragma once

#include <catch2/catch.hpp>

#include "aten/generated_support/tensor_factories.h"
#include "autograd/autograd.h"
#include "autograd/tools/gradcheck.h"
#include "tenon/ops/empty.h"
#include "tenon/tensor.h"

namespace tenon::test {

using Catch::Contains;
using Tensors = std::vector<Tensor>;

/// A leaf that requires grad with these values.
inline Tensor leaf(const std::vector<double>& values, ScalarType dtype = kFloat) {
  return tensor(values, TensorOptions(dtype)).set_requires_grad(true);
}
inline Tensor leaf_like(const Tensor& t) { return t.detach().clone().set_requires_grad(true); }

/// The elements in row-major order.
inline std::vector<double> values(const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).contiguous().view({-1});
  const double* data = flat.const_data_ptr<double>();
  return std::vector<double>(data, data + flat.numel());
}

/// Double leaves of these sizes with fixed values in (-1, 1), shifted by `offset`.
inline Tensor sample(IntArrayRef sizes, double offset = 0) {
  static uint64_t state = 1;
  Tensor t = empty(sizes, TensorOptions(kDouble));
  double* data = t.mutable_data_ptr<double>();
  for (int64_t i = 0; i < t.numel(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    data[i] =
        static_cast<double>(static_cast<int64_t>(state >> 11)) / 4503599627370496.0 - 1.0 + offset;
  }
  return t.set_requires_grad(true);
}

/// The message of the error that `f` throws, "" if it throws none.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace tenon::test
