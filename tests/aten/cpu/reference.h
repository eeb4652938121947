#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "tenon/tensor.h"

/// What tests of hand-written kernels share: random tensors of any layout, and their elements as
/// doubles in row-major order, on which the plain reference implementations work.
namespace tenon::test {

using Values = std::vector<double>;

/// Calls f(offset of the element from data_ptr, position in row-major order).
template <class F>
void for_each_element(const TensorBase& t, F&& f) {
  std::vector<int64_t> index(t.dim(), 0);
  const int64_t count = t.numel();
  for (int64_t position = 0; position < count; ++position) {
    int64_t offset = 0;
    for (int64_t d = 0; d < t.dim(); ++d) offset += index[d] * t.stride(d);
    f(offset, position);
    for (int64_t d = t.dim() - 1; d >= 0 && ++index[d] == t.size(d); --d) index[d] = 0;
  }
}

inline Values values(const TensorBase& t) {
  Values out(t.numel());
  TENON_DISPATCH_REAL(t.scalar_type(), "values", {
    const scalar_t* data = static_cast<const scalar_t*>(t.data_ptr());
    for_each_element(
        t, [&](int64_t offset, int64_t i) { out[i] = static_cast<double>(data[offset]); });
  });
  return out;
}

inline void fill(const TensorBase& t, const Values& from) {
  TENON_DISPATCH_REAL(t.scalar_type(), "fill", {
    scalar_t* data = static_cast<scalar_t*>(t.data_ptr());
    for_each_element(t, [&](int64_t offset, int64_t i) {
      if constexpr (std::is_same_v<scalar_t, Half> || std::is_same_v<scalar_t, BFloat16>) {
        data[offset] = scalar_t(static_cast<float>(from[i]));
      } else {
        data[offset] = static_cast<scalar_t>(from[i]);
      }
    });
  });
}

inline std::mt19937& random() {
  static std::mt19937 engine(7);
  return engine;
}

inline Tensor tensor_of(IntArrayRef sizes, ScalarType dtype, const Values& from) {
  Tensor t = empty(sizes, dtype, kCPU);
  fill(t, from);
  return t;
}

/// Standard normal numbers, or integers in [-5, 5].
inline void randomize(const TensorBase& t) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> small(-5, 5);
  Values v(t.numel());
  for (double& x : v) x = is_floating_point(t.scalar_type()) ? normal(random()) : small(random());
  fill(t, v);
}

inline Tensor random_tensor(IntArrayRef sizes, ScalarType dtype = kFloat) {
  Tensor t = empty(sizes, dtype, kCPU);
  randomize(t);
  return t;
}

/// Random elements in a layout whose dimensions are stored in the reverse order, with gaps.
inline Tensor random_strided(IntArrayRef sizes, ScalarType dtype = kFloat) {
  DimVector stored, strides(sizes.size(), 0);
  int64_t step = 2;
  for (size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = step;
    step *= sizes[d] + 1;
  }
  const TensorBase storage = empty(step + 1, dtype, kCPU);
  Tensor t = make_view(storage, sizes, strides, 1);
  randomize(t);
  return t;
}

inline Tensor channels_last(const TensorBase& t) {
  Tensor out = empty_strided(t.sizes(), strides_of_format(t.sizes(), MemoryFormat::ChannelsLast),
                             t.scalar_type(), kCPU);
  fill(out, values(t));
  return out;
}

/// Every pair within `tolerance` of each other relative to 1 + |wanted|; NaN equals NaN.
inline void require_close(const TensorBase& got, const Values& wanted, double tolerance = 1e-5) {
  const Values g = values(got);
  REQUIRE(g.size() == wanted.size());
  for (size_t i = 0; i < g.size(); ++i) {
    if (std::isnan(wanted[i]) && std::isnan(g[i])) continue;
    if (g[i] == wanted[i]) continue;
    INFO("element " << i << " of " << g.size() << ": " << g[i] << ", wanted " << wanted[i]);
    REQUIRE(std::abs(g[i] - wanted[i]) <= tolerance * (1 + std::abs(wanted[i])));
  }
}

/// `f` must throw an Error whose text contains `text`.
template <class F>
void require_error(F&& f, const std::string& text) {
  try {
    f();
  } catch (const Error& e) {
    INFO(e.what());
    REQUIRE(std::string(e.what()).find(text) != std::string::npos);
    return;
  }
  FAIL("no error; expected one with: " << text);
}

}  // namespace tenon::test
