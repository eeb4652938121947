#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <thrust/complex.h>

// The functions of the expression language as CUDA device functions, for V = float, double,
// int32_t, int64_t (here) and thrust::complex (math_complex.cuh). Comparisons and logic give bool.
// NaN, zero and overflow behave as in aten/cpu/vec; integers wrap around, and an integer divided by
// 0 has no defined result, since a kernel cannot throw.
namespace tenon::native::cuda_m {

#define TENON_DEVICE __device__ __forceinline__

template <class V>
inline constexpr bool kIsComplex = false;
template <class R>
inline constexpr bool kIsComplex<thrust::complex<R>> = true;
template <class V>
inline constexpr bool kIsFloat = std::is_floating_point_v<V>;

/// Functions for real V; those for complex V are overloads in math_complex.cuh.
template <class V>
concept Real = std::is_arithmetic_v<V> && !std::is_same_v<V, bool>;
template <class V>
concept Float = std::is_floating_point_v<V>;
template <class V>
concept Integer = std::is_integral_v<V> && !std::is_same_v<V, bool>;

template <class V>
TENON_DEVICE V constant(double value) {
  if constexpr (kIsComplex<V>) {
    return V(static_cast<typename V::value_type>(value));
  } else {
    return static_cast<V>(value);
  }
}

namespace detail {

/// Applies f to the unsigned counterparts: integer arithmetic that wraps around.
template <class V, class F>
TENON_DEVICE V wrapping(V a, V b, F f) {
  using U = std::make_unsigned_t<V>;
  return static_cast<V>(f(static_cast<U>(a), static_cast<U>(b)));
}

}  // namespace detail

// ---- arithmetic ----

template <Real V>
TENON_DEVICE V add(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return a + b;
  } else {
    return detail::wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
}
template <Real V>
TENON_DEVICE V sub(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return a - b;
  } else {
    return detail::wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
}
template <Real V>
TENON_DEVICE V mul(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return a * b;
  } else {
    return detail::wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
}
template <Float V>
TENON_DEVICE V div(V a, V b) {
  return a / b;
}
template <Real V>
TENON_DEVICE V neg(V a) {
  if constexpr (kIsFloat<V>) {
    return -a;
  } else {
    return sub(V(0), a);
  }
}
template <Real V>
TENON_DEVICE V abs(V a) {
  if constexpr (kIsFloat<V>) {
    return std::fabs(a);
  } else {
    return a < 0 ? neg(a) : a;
  }
}
/// -1, 0 or 1; 0 for NaN.
template <Real V>
TENON_DEVICE V sign(V a) {
  return static_cast<V>((a > 0) - (a < 0));
}
template <Real V>
TENON_DEVICE V square(V a) {
  return mul(a, a);
}
template <Float V>
TENON_DEVICE V reciprocal(V a) {
  return V(1) / a;
}
template <Real V>
TENON_DEVICE V fma(V a, V b, V c) {
  if constexpr (kIsFloat<V>) {
    return std::fma(a, b, c);
  } else {
    return add(mul(a, b), c);
  }
}

// ---- division with rounding, powers ----

/// a - trunc(a / b) b: the sign of the dividend.
template <Real V>
TENON_DEVICE V fmod(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return std::fmod(a, b);
  } else {
    return b == -1 ? V(0) : a % b;
  }
}
/// a - floor(a / b) b: the sign of the divisor.
template <Real V>
TENON_DEVICE V remainder(V a, V b) {
  const V r = cuda_m::fmod(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
/// The quotient rounded towards zero.
template <Real V>
TENON_DEVICE V trunc_divide(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return std::trunc(a / b);
  } else {
    return b == -1 ? neg(a) : a / b;
  }
}
/// Python's `//`
template <Real V>
TENON_DEVICE V floor_divide(V a, V b) {
  if constexpr (kIsFloat<V>) {
    if (b == 0) return a / b;
    const V r = std::fmod(a, b);
    V q = (a - r) / b;
    if (r != 0 && ((b < 0) != (r < 0))) q -= 1;
    if (q == 0) return std::copysign(V(0), a / b);
    const V f = std::floor(q);
    return q - f > V(0.5) ? f + 1 : f;
  } else {
    const V q = trunc_divide(a, b), r = cuda_m::fmod(a, b);
    return r != 0 && ((r < 0) != (b < 0)) ? q - 1 : q;
  }
}
/// a^b. Integers modulo 2^bits; a negative exponent gives the truncated reciprocal.
template <Real V>
TENON_DEVICE V pow(V a, V b) {
  if constexpr (kIsFloat<V>) {
    if (b == V(2)) return a * a;
    if (b == V(3)) return a * a * a;
    if (b == V(0.5)) return std::sqrt(a);
    return std::pow(a, b);
  } else {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    using U = std::make_unsigned_t<V>;
    U result = 1, power = static_cast<U>(a);
    for (U e = static_cast<U>(b); e != 0; e >>= 1) {
      if (e & 1) result *= power;
      power *= power;
    }
    return static_cast<V>(result);
  }
}

// ---- comparison, logic, selection ----

template <class V>
TENON_DEVICE bool eq(V a, V b) {
  return a == b;
}
template <class V>
TENON_DEVICE bool ne(V a, V b) {
  return !(a == b);
}
template <Real V>
TENON_DEVICE bool lt(V a, V b) {
  return a < b;
}
template <Real V>
TENON_DEVICE bool le(V a, V b) {
  return a <= b;
}
template <Real V>
TENON_DEVICE bool gt(V a, V b) {
  return a > b;
}
template <Real V>
TENON_DEVICE bool ge(V a, V b) {
  return a >= b;
}
/// v != 0; NaN counts as true. A mask stays what it is.
template <class X>
TENON_DEVICE bool to_mask(X x) {
  if constexpr (std::is_same_v<X, bool>) {
    return x;
  } else {
    return !(x == X(0));
  }
}
template <class V>
TENON_DEVICE V from_mask(bool mask) {
  return mask ? V(1) : V(0);
}
/// Whether a loop takes another step: of one lane, its condition.
template <class V>
TENON_DEVICE bool any(bool condition) {
  return condition;
}
template <class M, class V>
TENON_DEVICE V where(M mask, V a, V b) {
  return to_mask(mask) ? a : b;
}
template <class A, class B>
TENON_DEVICE bool logical_and(A a, B b) {
  return to_mask(a) && to_mask(b);
}
template <class A, class B>
TENON_DEVICE bool logical_or(A a, B b) {
  return to_mask(a) || to_mask(b);
}
template <class A, class B>
TENON_DEVICE bool logical_xor(A a, B b) {
  return to_mask(a) != to_mask(b);
}
template <class A>
TENON_DEVICE bool logical_not(A a) {
  return !to_mask(a);
}
template <Real V>
TENON_DEVICE bool isnan(V a) {
  return a != a;
}
template <Real V>
TENON_DEVICE bool isinf(V a) {
  if constexpr (kIsFloat<V>) {
    return std::fabs(a) == std::numeric_limits<V>::infinity();
  } else {
    return false;
  }
}
template <Real V>
TENON_DEVICE bool isfinite(V a) {
  if constexpr (kIsFloat<V>) {
    return std::fabs(a) < std::numeric_limits<V>::infinity();
  } else {
    return true;
  }
}
/// Larger of the two; NaN if either is NaN.
template <Real V>
TENON_DEVICE V maximum(V a, V b) {
  return a != a ? a : a > b ? a : b;
}
template <Real V>
TENON_DEVICE V minimum(V a, V b) {
  return a != a ? a : a < b ? a : b;
}
/// Larger of the two; the number if one is NaN.
template <Real V>
TENON_DEVICE V fmax(V a, V b) {
  return b != b ? a : a > b ? a : b;
}
template <Real V>
TENON_DEVICE V fmin(V a, V b) {
  return b != b ? a : a < b ? a : b;
}
/// max(a, 0); NaN and -0 stay.
template <Real V>
TENON_DEVICE V relu(V a) {
  return a < 0 ? V(0) : a;
}

// ---- bits ----

template <Integer V>
TENON_DEVICE V bitwise_and(V a, V b) {
  return a & b;
}
template <Integer V>
TENON_DEVICE V bitwise_or(V a, V b) {
  return a | b;
}
template <Integer V>
TENON_DEVICE V bitwise_xor(V a, V b) {
  return a ^ b;
}
template <Integer V>
TENON_DEVICE V bitwise_not(V a) {
  return ~a;
}
/// a 2^b; 0 if b is not below the number of bits.
template <Integer V>
TENON_DEVICE V lshift(V a, V b) {
  using U = std::make_unsigned_t<V>;
  return b < 0 || b >= V(8 * sizeof(V)) ? V(0) : static_cast<V>(static_cast<U>(a) << b);
}
/// floor(a / 2^b); 0 or -1 if b is not below the number of bits.
template <Integer V>
TENON_DEVICE V rshift(V a, V b) {
  constexpr V kLast = 8 * sizeof(V) - 1;
  return a >> (b < 0 || b > kLast ? kLast : b);
}

// ---- rounding ----

#define TENON_ROUNDING(name, f)  \
  template <Real V>              \
  TENON_DEVICE V name(V a) {     \
    if constexpr (kIsFloat<V>) { \
      return std::f(a);          \
    } else {                     \
      return a;                  \
    }                            \
  }
TENON_ROUNDING(floor, floor)
TENON_ROUNDING(ceil, ceil)
TENON_ROUNDING(round, rint)  // halves to even
TENON_ROUNDING(trunc, trunc)
#undef TENON_ROUNDING
template <Float V>
TENON_DEVICE V frac(V a) {
  return a - std::trunc(a);
}

// ---- functions of real numbers ----

#define TENON_UNARY(name)    \
  template <Float V>         \
  TENON_DEVICE V name(V a) { \
    return std::name(a);     \
  }
TENON_UNARY(exp)
TENON_UNARY(exp2)
TENON_UNARY(expm1)
TENON_UNARY(log)
TENON_UNARY(log2)
TENON_UNARY(log10)
TENON_UNARY(log1p)
TENON_UNARY(sqrt)
TENON_UNARY(sin)
TENON_UNARY(cos)
TENON_UNARY(tan)
TENON_UNARY(asin)
TENON_UNARY(acos)
TENON_UNARY(atan)
TENON_UNARY(sinh)
TENON_UNARY(cosh)
TENON_UNARY(tanh)
TENON_UNARY(asinh)
TENON_UNARY(acosh)
TENON_UNARY(atanh)
TENON_UNARY(erf)
TENON_UNARY(erfc)
TENON_UNARY(lgamma)
#undef TENON_UNARY

template <Float V>
TENON_DEVICE V rsqrt(V a) {
  if constexpr (std::is_same_v<V, float>) {
    return ::rsqrtf(a);
  } else {
    return ::rsqrt(a);
  }
}
template <Float V>
TENON_DEVICE V erfinv(V a) {
  if constexpr (std::is_same_v<V, float>) {
    return ::erfinvf(a);
  } else {
    return ::erfinv(a);
  }
}
template <Float V>
TENON_DEVICE V sigmoid(V a) {
  return V(1) / (V(1) + std::exp(-a));
}
template <Float V>
TENON_DEVICE V atan2(V a, V b) {
  return std::atan2(a, b);
}
template <Float V>
TENON_DEVICE V hypot(V a, V b) {
  return std::hypot(a, b);
}
template <Float V>
TENON_DEVICE V nextafter(V a, V b) {
  return std::nextafter(a, b);
}
template <Float V>
TENON_DEVICE V copysign(V a, V b) {
  return std::copysign(a, b);
}

namespace detail {

/// The logarithmic derivative of gamma: reflected to x > 0, shifted to x >= 10, then the asymptotic
/// series log x - 1/(2x) - sum B_2k / (2k x^2k), whose six terms give 1e-17 there.
__device__ __noinline__ inline double digamma_double(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double sum = 0;
  if (x < 0) {
    if (x == std::trunc(x)) return std::numeric_limits<double>::quiet_NaN();
    sum = -kPi / std::tan(kPi * (x - std::trunc(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return sum + std::log(x) - 0.5 / x - (x == std::numeric_limits<double>::infinity() ? 0 : series);
}

}  // namespace detail

template <Float V>
TENON_DEVICE V digamma(V a) {
  return static_cast<V>(detail::digamma_double(a));
}

// On real numbers these do nothing; they exist so that one expression serves complex ones too.
template <Real V>
TENON_DEVICE V conj(V a) {
  return a;
}
template <Real V>
TENON_DEVICE V real(V a) {
  return a;
}
template <Real V>
TENON_DEVICE V imag(V) {
  return V(0);
}

}  // namespace tenon::native::cuda_m
