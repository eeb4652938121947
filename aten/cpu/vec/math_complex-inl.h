#if defined(TENON_ATEN_CPU_VEC_MATH_COMPLEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_COMPLEX_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_COMPLEX_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_COMPLEX_INL_H_
#endif

// The same functions for plain complex numbers: no SIMD, the standard library's algorithms.

#include "aten/cpu/vec/math_basic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m {

template <class R>
HWY_INLINE std::complex<R> add(std::complex<R> a, std::complex<R> b) {
  return a + b;
}
template <class R>
HWY_INLINE std::complex<R> sub(std::complex<R> a, std::complex<R> b) {
  return a - b;
}
template <class R>
HWY_INLINE std::complex<R> mul(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class R>
HWY_INLINE std::complex<R> div(std::complex<R> a, std::complex<R> b) {
  if (b.imag() == 0) {
    const R x = a.real() / b.real(), y = a.imag() / b.real();
    if (std::isfinite(x) && std::isfinite(y)) return {x, y};
  }
  return a / b;
}
template <class R>
HWY_INLINE std::complex<R> neg(std::complex<R> a) {
  return -a;
}
/// |a| as a complex number with imaginary part 0
template <class R>
HWY_INLINE std::complex<R> abs(std::complex<R> a) {
  return std::abs(a);
}
/// a / |a|, and 0 for 0
template <class R>
HWY_INLINE std::complex<R> sign(std::complex<R> a) {
  const R r = std::abs(a);
  return r == 0 ? std::complex<R>() : a / r;
}
template <class R>
HWY_INLINE std::complex<R> square(std::complex<R> a) {
  return m::mul(a, a);
}
template <class R>
HWY_INLINE std::complex<R> reciprocal(std::complex<R> a) {
  return R{1} / a;
}
template <class R>
HWY_INLINE std::complex<R> fma(std::complex<R> a, std::complex<R> b, std::complex<R> c) {
  return m::mul(a, b) + c;
}
template <class R>
HWY_INLINE std::complex<R> conj(std::complex<R> a) {
  return std::conj(a);
}
template <class R>
HWY_INLINE std::complex<R> real(std::complex<R> a) {
  return a.real();
}
template <class R>
HWY_INLINE std::complex<R> imag(std::complex<R> a) {
  return a.imag();
}

template <class R>
HWY_INLINE bool eq(std::complex<R> a, std::complex<R> b) {
  return a == b;
}
template <class R>
HWY_INLINE bool ne(std::complex<R> a, std::complex<R> b) {
  return a != b;
}
HWY_INLINE bool to_mask(bool a) { return a; }
template <class R>
HWY_INLINE bool to_mask(std::complex<R> a) {
  return a != std::complex<R>();
}
template <class R>
HWY_INLINE std::complex<R> where(bool mask, std::complex<R> a, std::complex<R> b) {
  return mask ? a : b;
}
template <class R>
HWY_INLINE std::complex<R> where(std::complex<R> mask, std::complex<R> a, std::complex<R> b) {
  return m::to_mask(mask) ? a : b;
}
HWY_INLINE bool logical_and(bool a, bool b) { return a && b; }
HWY_INLINE bool logical_or(bool a, bool b) { return a || b; }
HWY_INLINE bool logical_xor(bool a, bool b) { return a != b; }
HWY_INLINE bool logical_not(bool a) { return !a; }
template <class R>
HWY_INLINE bool logical_and(std::complex<R> a, std::complex<R> b) {
  return m::to_mask(a) && m::to_mask(b);
}
template <class R>
HWY_INLINE bool logical_or(std::complex<R> a, std::complex<R> b) {
  return m::to_mask(a) || m::to_mask(b);
}
template <class R>
HWY_INLINE bool logical_xor(std::complex<R> a, std::complex<R> b) {
  return m::to_mask(a) != m::to_mask(b);
}
template <class R>
HWY_INLINE bool logical_not(std::complex<R> a) {
  return !m::to_mask(a);
}
template <class R>
HWY_INLINE bool isnan(std::complex<R> a) {
  return std::isnan(a.real()) || std::isnan(a.imag());
}
template <class R>
HWY_INLINE bool isinf(std::complex<R> a) {
  return std::isinf(a.real()) || std::isinf(a.imag());
}
template <class R>
HWY_INLINE bool isfinite(std::complex<R> a) {
  return std::isfinite(a.real()) && std::isfinite(a.imag());
}

template <class R>
HWY_INLINE std::complex<R> pow(std::complex<R> a, std::complex<R> b) {
  // Exactly, whatever the other operand is: the logarithm would make NaN of infinities.
  if (b == std::complex<R>() || a == std::complex<R>(1)) return R{1};
  if (b == std::complex<R>(1)) return a;
  if (b == std::complex<R>(2)) return m::mul(a, a);
  return std::pow(a, b);
}
template <class R>
HWY_INLINE std::complex<R> exp(std::complex<R> a) {
  return std::exp(a);
}
template <class R>
HWY_INLINE std::complex<R> exp2(std::complex<R> a) {
  return std::exp(a * R(0.693147180559945309417));
}
/// exp(a) - 1 without cancellation near 0
template <class R>
HWY_INLINE std::complex<R> expm1(std::complex<R> a) {
  const R e = std::expm1(a.real()), s = std::sin(a.imag() / 2);
  return {e * std::cos(a.imag()) - 2 * s * s, (e + 1) * std::sin(a.imag())};
}
template <class R>
HWY_INLINE std::complex<R> log(std::complex<R> a) {
  return std::log(a);
}
template <class R>
HWY_INLINE std::complex<R> log2(std::complex<R> a) {
  return std::log(a) * R(1.44269504088896340736);
}
template <class R>
HWY_INLINE std::complex<R> log10(std::complex<R> a) {
  return std::log10(a);
}
/// log(1 + a) without cancellation near 0
template <class R>
HWY_INLINE std::complex<R> log1p(std::complex<R> a) {
  const R x = a.real(), y = a.imag();
  const R angle = std::atan2(y, 1 + x);
  if (std::abs(x) > R(0.5) || std::abs(y) > R(0.5)) return {std::log(std::hypot(1 + x, y)), angle};
  return {std::log1p(x * (2 + x) + y * y) / 2, angle};
}
template <class R>
HWY_INLINE std::complex<R> sqrt(std::complex<R> a) {
  if constexpr (sizeof(R) == 4) {  // in double, where squares of floats neither overflow nor vanish
    const double x = a.real(), y = a.imag(), r = std::sqrt(x * x + y * y);
    if (r > 0 && std::isfinite(r)) {
      const double larger = std::sqrt((std::abs(x) + r) / 2), smaller = std::abs(y) / (2 * larger);
      return std::complex<R>(static_cast<R>(x >= 0 ? larger : smaller),
                             static_cast<R>(std::copysign(x >= 0 ? smaller : larger, y)));
    }
  }
  return std::sqrt(a);
}
template <class R>
HWY_INLINE std::complex<R> rsqrt(std::complex<R> a) {
  return R{1} / std::sqrt(a);
}
template <class R>
HWY_INLINE std::complex<R> sin(std::complex<R> a) {
  return std::sin(a);
}
template <class R>
HWY_INLINE std::complex<R> cos(std::complex<R> a) {
  return std::cos(a);
}
template <class R>
HWY_INLINE std::complex<R> tan(std::complex<R> a) {
  return std::tan(a);
}
template <class R>
HWY_INLINE std::complex<R> asin(std::complex<R> a) {
  return std::asin(a);
}
template <class R>
HWY_INLINE std::complex<R> acos(std::complex<R> a) {
  return std::acos(a);
}
template <class R>
HWY_INLINE std::complex<R> atan(std::complex<R> a) {
  return std::atan(a);
}
template <class R>
HWY_INLINE std::complex<R> sinh(std::complex<R> a) {
  return std::sinh(a);
}
template <class R>
HWY_INLINE std::complex<R> cosh(std::complex<R> a) {
  return std::cosh(a);
}
template <class R>
HWY_INLINE std::complex<R> tanh(std::complex<R> a) {
  return std::tanh(a);
}
template <class R>
HWY_INLINE std::complex<R> asinh(std::complex<R> a) {
  return std::asinh(a);
}
template <class R>
HWY_INLINE std::complex<R> acosh(std::complex<R> a) {
  return std::acosh(a);
}
template <class R>
HWY_INLINE std::complex<R> atanh(std::complex<R> a) {
  return std::atanh(a);
}
template <class R>
HWY_INLINE std::complex<R> sigmoid(std::complex<R> a) {
  return R{1} / (R{1} + std::exp(-a));
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
