// Vector functions against the C library in a wider type, on every instruction set this machine
// has.
#include "aten/core/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/aten/cpu/vec/test_math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/vec/math-inl.h"

#ifndef TENON_TEST_MATH_LIST
#define TENON_TEST_MATH_LIST
// name, bound in ulp for float and for double
// clang-format off
#define TENON_UNARY(M)                                                                           \
  M(exp, 1, 2)                                                                                   \
  M(exp2, 1, 2)                                                                                  \
  M(expm1, 1, 2)                                                                                 \
  M(log, 1, 2) M(log2, 1, 2) M(log10, 1, 2) M(log1p, 1, 2) M(sqrt, 0.5, 0.5) M(rsqrt, 1, 2)      \
      M(sin, 2, 2) M(cos, 2, 2) M(tan, 2, 2) M(asin, 2, 2) M(acos, 2, 2) M(atan, 2, 2)           \
          M(sinh, 2, 2) M(cosh, 2, 2) M(tanh, 2, 2) M(asinh, 1, 2) M(acosh, 1, 2) M(atanh, 1, 2) \
              M(erf, 2, 2) M(erfc, 1, 2) M(sigmoid, 2, 2) M(lgamma, 1, 4) M(floor, 0, 0)         \
                  M(ceil, 0, 0) M(trunc, 0, 0) M(round, 0, 0) M(reciprocal, 0.5, 0.5) \
                      M(erfinv, 2, 2)
// clang-format on
// floor_divide is inexact by design where the quotient exceeds the mantissa: see its own test.
// clang-format off
#define TENON_BINARY(M)                                                                \
  M(pow, 1, 2)                                                                         \
  M(atan2, 2, 2)                                                                       \
  M(hypot, 1, 2)                                                                       \
  M(fmod, 0, 0) M(remainder, 0.5, 0.5) M(maximum, 0, 0) M(minimum, 0, 0) M(fmax, 0, 0) \
      M(fmin, 0, 0) M(copysign, 0, 0)
// clang-format on
namespace test_math {
enum Unary {
#define TENON_ID(name, f, d) k_##name,
  TENON_UNARY(TENON_ID) kUnaryCount
};
enum Binary { TENON_BINARY(TENON_ID) kBinaryCount };
}  // namespace test_math
#endif

HWY_BEFORE_NAMESPACE();
namespace test_math::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace m = tenon::native::HWY_NAMESPACE::m;

template <class T, class F>
HWY_NOINLINE void run1(const T* in, T* out, size_t n, F f) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(f(hn::LoadU(d, in + i)), d, out + i);
}
template <class T, class F>
HWY_NOINLINE void run2(const T* a, const T* b, T* out, size_t n, F f) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
}

template <class T>
void unary_of(int id, const T* in, T* out, size_t n) {
  switch (id) {
#define TENON_CASE(name, f, d) \
  case k_##name: return run1(in, out, n, [](auto v) HWY_ATTR { return m::name(v); });
    TENON_UNARY(TENON_CASE)
  }
}
template <class T>
void binary_of(int id, const T* a, const T* b, T* out, size_t n) {
  switch (id) {
#undef TENON_CASE
#define TENON_CASE(name, f, d) \
  case k_##name: return run2(a, b, out, n, [](auto x, auto y) HWY_ATTR { return m::name(x, y); });
    TENON_BINARY(TENON_CASE)
#undef TENON_CASE
  }
}
void unary_f32(int id, const float* in, float* out, size_t n) { unary_of(id, in, out, n); }
void unary_f64(int id, const double* in, double* out, size_t n) { unary_of(id, in, out, n); }
void binary_f32(int id, const float* a, const float* b, float* out, size_t n) {
  binary_of(id, a, b, out, n);
}
void binary_f64(int id, const double* a, const double* b, double* out, size_t n) {
  binary_of(id, a, b, out, n);
}
void exp_nonpositive_f32(const float* in, float* out, size_t n) {
  run1(in, out, n, [](auto v) HWY_ATTR { return m::exp_nonpositive(v); });
}
void exp_nonpositive_f64(const double* in, double* out, size_t n) {
  run1(in, out, n, [](auto v) HWY_ATTR { return m::exp_nonpositive(v); });
}
void floor_divide_f32(const float* a, const float* b, float* out, size_t n) {
  run2(a, b, out, n, [](auto x, auto y) HWY_ATTR { return m::floor_divide(x, y); });
}
template <class T>
void nextafter_of(const T* a, const T* b, T* out, size_t n) {
  run2(a, b, out, n, [](auto x, auto y) HWY_ATTR { return m::nextafter(x, y); });
}
void nextafter_f32(const float* a, const float* b, float* out, size_t n) {
  nextafter_of(a, b, out, n);
}
void nextafter_f64(const double* a, const double* b, double* out, size_t n) {
  nextafter_of(a, b, out, n);
}
template <class T>
void integers_of(const T* a, const T* b, T* out, size_t n) {
  run2(a, b, out, n, [](auto x, auto y) HWY_ATTR { return m::floor_divide(x, y); });
  run2(a, b, out + n, n, [](auto x, auto y) HWY_ATTR { return m::remainder(x, y); });
  run2(a, b, out + 2 * n, n, [](auto x, auto y) HWY_ATTR { return m::trunc_divide(x, y); });
  run2(a, b, out + 3 * n, n, [](auto x, auto y) HWY_ATTR { return m::pow(x, y); });
  run2(a, b, out + 4 * n, n, [](auto x, auto y) HWY_ATTR { return m::lshift(x, y); });
  run2(a, b, out + 5 * n, n, [](auto x, auto y) HWY_ATTR { return m::rshift(x, y); });
}
void integers_i32(const int32_t* a, const int32_t* b, int32_t* out, size_t n) {
  integers_of(a, b, out, n);
}
void integers_i64(const int64_t* a, const int64_t* b, int64_t* out, size_t n) {
  integers_of(a, b, out, n);
}
}  // namespace test_math::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/targets.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "aten/iterator/zero_division.h"

namespace test_math {
HWY_EXPORT(unary_f32);
HWY_EXPORT(unary_f64);
HWY_EXPORT(binary_f32);
HWY_EXPORT(binary_f64);
HWY_EXPORT(exp_nonpositive_f32);
HWY_EXPORT(exp_nonpositive_f64);
HWY_EXPORT(floor_divide_f32);
HWY_EXPORT(nextafter_f32);
HWY_EXPORT(nextafter_f64);
HWY_EXPORT(integers_i32);
HWY_EXPORT(integers_i64);

template <class R>
R rsqrt(R x) {
  return std::copysign(1 / std::sqrt(x), x);
}
template <class R>
R reciprocal(R x) {
  return 1 / x;
}
template <class R>
R round(R x) {
  return std::nearbyint(x);
}
template <class R>
R sigmoid(R x) {
  return 1 / (1 + std::exp(-x));
}
/// By Newton's method on erf, and where that is flat on log(erfc).
template <class R>
R erfinv(R x) {
  const R a = std::abs(x), half_root_pi = std::sqrt(std::acos(R{-1})) / 2;
  if (x == 0) return x;
  if (!(a < 1)) return a == 1 ? x / R{0} : std::numeric_limits<R>::quiet_NaN();
  R y = a < R{0.5} ? a * half_root_pi : std::sqrt(-std::log(1 - a));
  for (int i = 0; i < 12; ++i) {
    const R slope = std::exp(-y * y) / half_root_pi, c = std::erfc(y);
    y += a < R{0.5} ? (a - std::erf(y)) / slope : std::log(c / (1 - a)) * c / slope;
  }
  return std::copysign(y, x);
}
template <class R>
R remainder(R a, R b) {
  const R r = std::fmod(a, b);
  return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}
template <class R>
R maximum(R a, R b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
}
template <class R>
R minimum(R a, R b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
}

template <class R>
R reference1(int id, R x) {
  using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::ceil, std::cos,
      std::cosh, std::erf, std::erfc, std::exp, std::exp2, std::expm1, std::floor, std::lgamma,
      std::log, std::log10, std::log1p, std::log2, std::sin, std::sinh, std::sqrt, std::tan,
      std::tanh, std::trunc;
  switch (id) {
#define TENON_CASE(name, f, d) \
  case k_##name: return name(x);
    TENON_UNARY(TENON_CASE)
  }
  return 0;
}
template <class R>
R reference2(int id, R a, R b) {
  using std::atan2, std::copysign, std::fmax, std::fmin, std::fmod, std::hypot, std::pow;
  switch (id) {
#undef TENON_CASE
#define TENON_CASE_STD(name) \
  case k_##name: return name(a, b);
    TENON_CASE_STD(pow)
    TENON_CASE_STD(atan2)
    TENON_CASE_STD(hypot)
    TENON_CASE_STD(fmod)
    TENON_CASE_STD(fmax)
    TENON_CASE_STD(fmin)
    TENON_CASE_STD(copysign)
  case k_remainder: return test_math::remainder(a, b);
  case k_maximum: return test_math::maximum(a, b);
  case k_minimum: return test_math::minimum(a, b);
  }
  return 0;
}

/// Distance of `got` from the exact value in units of the last place of T at that value.
template <class T, class R>
double ulps(T got, R exact) {
  const T nearest = static_cast<T>(exact);
  if (std::isnan(nearest)) return std::isnan(got) ? 0 : 1e9;
  if (nearest == 0 && got == 0) return std::signbit(nearest) == std::signbit(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got) return 0;
    const T largest = std::numeric_limits<T>::max();
    return std::abs(nearest) == largest || std::abs(got) == largest ? 1 : 1e9;
  }
  int e;
  std::frexp(nearest, &e);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const R unit = std::ldexp(R{1}, std::max(e - std::numeric_limits<T>::digits, lowest));
  return static_cast<double>(std::abs((static_cast<R>(got) - exact) / unit));
}

template <class T>
std::vector<T> samples(size_t per_binade, bool moderate) {
  using L = std::numeric_limits<T>;
  std::mt19937_64 gen(42);
  std::vector<T> values = {0,
                           -T{0},
                           1,
                           -1,
                           2,
                           -2,
                           T(0.5),
                           -T(0.5),
                           L::infinity(),
                           -L::infinity(),
                           L::quiet_NaN(),
                           L::denorm_min(),
                           -L::denorm_min(),
                           L::min(),
                           L::max(),
                           -L::max(),
                           std::nextafter(T{1}, T{0}),
                           std::nextafter(T{1}, T{2}),
                           3,
                           T(1.5),
                           T(2.5),
                           T(88.7),
                           T(-88),
                           T(-103.5),
                           T(709.7),
                           T(-745)};
  const int top = moderate ? 12 : L::max_exponent - 1;
  const int bottom = moderate ? -30 : L::min_exponent - L::digits;
  for (int e = bottom; e <= top; ++e) {
    // Functions change most between 2^-20 and 2^12.
    const size_t count = e > -20 && e < 12 ? per_binade * 16 : per_binade;
    for (size_t i = 0; i < count; ++i) {
      const T f = std::ldexp(1 + static_cast<T>(gen() >> 11) / T(0x1p53), e);
      values.push_back(gen() & 1 ? f : -f);
    }
  }
  while (values.size() % 16 != 0) values.push_back(1);
  return values;
}

template <class F>
void for_each_target(F f) {
  for (int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    if ((target & HWY_TARGETS) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    f(target <= HWY_AVX2, hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T, class R, class Eval>
void check_unary(const char* name, int id, double bound, const std::vector<T>& in, Eval eval) {
  std::vector<T> out(in.size());
  for_each_target([&](bool fused, const char* target) {
    eval(id, in.data(), out.data(), in.size());
    double worst = 0;
    T where = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const double u = ulps<T, R>(out[i], reference1<R>(id, static_cast<R>(in[i])));
      if (u > worst) worst = u, where = in[i];
    }
    // Without FMA the last products of the argument reductions round.
    INFO(name << " on " << target << ": " << worst << " ulp at " << std::hexfloat << where);
    if (std::getenv("TENON_TEST_PRINT")) {
      std::printf("%-10s %-6s %-5s %.3f at %a\n", name, sizeof(T) == 4 ? "float" : "double", target,
                  worst, static_cast<double>(where));
    }
    CHECK(worst <= (fused ? bound : 2 * bound));
  });
}

TEST_CASE("unary functions in float", "[vec]") {
  const auto in = samples<float>(40, false);
  const auto f = [](auto... a) { HWY_DYNAMIC_DISPATCH(unary_f32)(a...); };
#define TENON_CHECK_F(name, bf, bd) check_unary<float, double>(#name, k_##name, bf, in, f);
  TENON_UNARY(TENON_CHECK_F)
}

template <class T>
std::vector<T> nonpositive(std::vector<T> values) {
  for (T& value : values) value = -std::abs(value);
  return values;
}

TEST_CASE("exponentials of what is not positive", "[vec]") {
  check_unary<float, double>("exp", k_exp, 1, nonpositive(samples<float>(40, false)),
                             [](int, auto... a) {
                               HWY_DYNAMIC_DISPATCH(exp_nonpositive_f32)(a...);
                             });
  check_unary<double, long double>("exp", k_exp, 2, nonpositive(samples<double>(12, false)),
                                   [](int, auto... a) {
                                     HWY_DYNAMIC_DISPATCH(exp_nonpositive_f64)(a...);
                                   });
}

template <class T, class Eval>
void check_nextafter(Eval eval) {
  std::vector<T> a, b, out;
  for (const T x : samples<T>(1, false)) {
    for (const T y : {x, -x, T{0}, -T{0}, T{1}, -T{2}, std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN()}) {
      a.push_back(x), b.push_back(y);
    }
  }
  out.resize(a.size());
  for_each_target([&](bool, const char* target) {
    eval(a.data(), b.data(), out.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const T expected = std::nextafter(a[i], b[i]);
      INFO(target << ": nextafter(" << std::hexfloat << a[i] << ", " << b[i] << ") = " << out[i]);
      REQUIRE((std::isnan(expected) ? std::isnan(out[i])
                                    : std::memcmp(&expected, &out[i], sizeof(T)) == 0));
    }
  });
}

TEST_CASE("nextafter is the C library's", "[vec]") {
  check_nextafter<float>([](auto... p) { HWY_DYNAMIC_DISPATCH(nextafter_f32)(p...); });
  check_nextafter<double>([](auto... p) { HWY_DYNAMIC_DISPATCH(nextafter_f64)(p...); });
}

TEST_CASE("unary functions in double", "[vec]") {
  const auto in = samples<double>(12, false);
  const auto f = [](auto... a) { HWY_DYNAMIC_DISPATCH(unary_f64)(a...); };
#define TENON_CHECK_D(name, bf, bd) check_unary<double, long double>(#name, k_##name, bd, in, f);
  TENON_UNARY(TENON_CHECK_D)
}

template <class T, class R, class Eval>
void check_binary(const char* name, int id, double bound, const std::vector<T>& a,
                  const std::vector<T>& b, Eval eval) {
  std::vector<T> out(a.size());
  for_each_target([&](bool fused, const char* target) {
    eval(id, a.data(), b.data(), out.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const R exact = reference2<R>(id, static_cast<R>(a[i]), static_cast<R>(b[i]));
      const double u = ulps<T, R>(out[i], exact);
      if (u > (fused ? bound : 2 * bound)) {
        // fmax(+0, -0) may be either.
        if (out[i] == 0 && exact == 0) continue;
        INFO(name << " on " << target << " of " << std::hexfloat << a[i] << " and " << b[i]
                  << " gives " << out[i] << ", " << std::defaultfloat << u << " ulp off");
        CHECK(false);
        return;
      }
    }
  });
}

template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs() {
  const auto one = samples<T>(2, false);
  const auto near = samples<T>(8, true);
  std::vector<T> a, b;
  std::mt19937 gen(7);
  for (size_t i = 0; i < 26; ++i) {
    for (size_t j = 0; j < 26; ++j) a.push_back(one[i]), b.push_back(one[j]);
  }
  for (int i = 0; i < 60000; ++i) {
    const auto& from = i % 4 == 0 ? one : near;
    a.push_back(from[gen() % from.size()]);
    b.push_back(from[gen() % from.size()]);
  }
  while (a.size() % 16 != 0) a.push_back(1), b.push_back(1);
  return {a, b};
}

TEST_CASE("binary functions in float", "[vec]") {
  const auto [a, b] = pairs<float>();
  const auto f = [](auto... x) { HWY_DYNAMIC_DISPATCH(binary_f32)(x...); };
#define TENON_CHECK_F2(name, bf, bd) check_binary<float, double>(#name, k_##name, bf, a, b, f);
  TENON_BINARY(TENON_CHECK_F2)
}

TEST_CASE("binary functions in double", "[vec]") {
  const auto [a, b] = pairs<double>();
  const auto f = [](auto... x) { HWY_DYNAMIC_DISPATCH(binary_f64)(x...); };
#define TENON_CHECK_D2(name, bf, bd) \
  check_binary<double, long double>(#name, k_##name, bd, a, b, f);
  TENON_BINARY(TENON_CHECK_D2)
}

TEST_CASE("floor_divide of floats is Python's", "[vec]") {
  const float inf = std::numeric_limits<float>::infinity();
  const float a[16] = {5, -5, 7, -7, 1, -1, 0.3f, 6, -0.0f, 1e30f, inf, 5, 1, 0, 2, 3};
  const float b[16] = {0, 3, -2, -2, 3, 3, 0.1f, 2, 3, 1e-3f, 2, inf, -inf, 5, 2, 3};
  float out[16];
  for_each_target([&](bool, const char*) {
    HWY_DYNAMIC_DISPATCH(floor_divide_f32)(a, b, out, 16);
    const float expected[] = {inf, -2, -4, 3, 0, -1, 3, 3};
    for (int i = 0; i < 8; ++i) CHECK(out[i] == expected[i]);
    CHECK((out[8] == 0 && std::signbit(out[8])));
    CHECK(std::isnan(out[10]));
    CHECK(out[11] == 0);
    CHECK(out[12] == -1);
  });
}

template <class T, class F>
void check_integers(F f) {
  constexpr T kMin = std::numeric_limits<T>::min();
  constexpr T kBits = sizeof(T) * 8;
  const std::vector<T> a = {7, -7, 7, -7, kMin, 5, 1, 1, -8, 8, 2, -1, 3, 0, -5, 6};
  const std::vector<T> b = {2, 2, -2, -2, -1, 1, -1, kBits, 1, kBits, -1, -3, 4, 3, 3, -4};
  std::vector<T> out(6 * 16);
  for_each_target([&](bool, const char*) {
    f(a.data(), b.data(), out.data(), size_t{16});
    const auto row = [&](int r) { return std::vector<T>(&out[16 * r], &out[16 * r] + 6); };
    CHECK(row(0) == std::vector<T>{3, -4, -4, 3, kMin, 5});
    CHECK(row(1) == std::vector<T>{1, 1, -1, -1, 0, 0});
    CHECK(row(2) == std::vector<T>{3, -3, -3, 3, kMin, 5});
    CHECK(out[16 * 3 + 0] == 49);
    CHECK(out[16 * 3 + 10] == 0);
    CHECK(out[16 * 3 + 11] == -1);
    CHECK(out[16 * 3 + 12] == 81);
    CHECK(out[16 * 4 + 7] == 0);
    CHECK(out[16 * 4 + 8] == -16);
    CHECK(out[16 * 5 + 8] == -4);
    CHECK(out[16 * 5 + 9] == 0);
    CHECK_FALSE(tenon::native::take_zero_division());
    std::vector<T> zeros(16, 0);
    f(a.data(), zeros.data(), out.data(), size_t{16});
    CHECK(tenon::native::take_zero_division());
  });
}

TEST_CASE("integer division, powers and shifts", "[vec]") {
  check_integers<int32_t>([](auto... a) { HWY_DYNAMIC_DISPATCH(integers_i32)(a...); });
  check_integers<int64_t>([](auto... a) { HWY_DYNAMIC_DISPATCH(integers_i64)(a...); });
}

}  // namespace test_math
#endif
