#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "tenon/ops/empty.h"

// What the tests of generated row kernels share.

namespace tenon::test {

using Values = std::vector<double>;
using RowFunction = std::function<Values(const Values& row)>;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Values values(const Tensor& t) {
  const Tensor plain = t.to(kDouble).contiguous();
  const double* p = plain.numel() ? plain.data_ptr<double>() : nullptr;
  return Values(p, p + plain.numel());
}

inline Tensor tensor_of(const Values& v, IntArrayRef sizes, ScalarType dtype = kDouble) {
  Tensor t = empty(sizes, TensorOptions(kDouble));
  std::copy(v.begin(), v.end(), t.data_ptr<double>());
  return t.to(dtype);
}

inline double unit_of(ScalarType t) {
  return t == kBFloat16 ? 1.0 / 128 : t == kHalf ? 1.0 / 1024 : t == kFloat ? 1.2e-7 : 2.3e-16;
}

inline bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

/// `got` is f of each row of x along its last dimension.
inline void check_rows(const Tensor& x, const Tensor& got, const RowFunction& f, double tolerance) {
  const Values in = values(x), out = values(got);
  const int64_t n = x.size(-1), rows = n ? x.numel() / n : 0;
  size_t at = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (const double wanted : f(Values(in.begin() + r * n, in.begin() + (r + 1) * n))) {
      if (at >= out.size()) FAIL("only " << out.size() << " values");
      if (!close(out[at], wanted, tolerance)) {
        FAIL("row " << r << ", value " << at << ": got " << out[at] << ", wanted " << wanted);
      }
      ++at;
    }
  }
  REQUIRE(at == out.size());
}

inline constexpr ScalarType kFloats[] = {kDouble, kFloat, kHalf, kBFloat16};
inline constexpr int64_t kLengths[] = {1, 3, 7, 16, 33, 100, 10000};

}  // namespace tenon::test
