#pragma once

#include "aten/cuda/cuda_math.cuh"

// The functions of math.cuh for complex numbers.
namespace tenon::native::cuda_m {

template <class R>
using Complex = thrust::complex<R>;

template <class R>
TENON_DEVICE Complex<R> add(Complex<R> a, Complex<R> b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}
template <class R>
TENON_DEVICE Complex<R> sub(Complex<R> a, Complex<R> b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}
template <class R>
TENON_DEVICE Complex<R> mul(Complex<R> a, Complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class R>
TENON_DEVICE Complex<R> div(Complex<R> a, Complex<R> b) {
  return a / b;
}
template <class R>
TENON_DEVICE Complex<R> neg(Complex<R> a) {
  return {-a.real(), -a.imag()};
}
/// |a| as a complex number with imaginary part 0
template <class R>
TENON_DEVICE Complex<R> abs(Complex<R> a) {
  return Complex<R>(std::hypot(a.real(), a.imag()));
}
/// a / |a|, and 0 for 0
template <class R>
TENON_DEVICE Complex<R> sign(Complex<R> a) {
  const R r = std::hypot(a.real(), a.imag());
  return r == 0 ? Complex<R>() : Complex<R>(a.real() / r, a.imag() / r);
}
template <class R>
TENON_DEVICE Complex<R> square(Complex<R> a) {
  return cuda_m::mul(a, a);
}
template <class R>
TENON_DEVICE Complex<R> reciprocal(Complex<R> a) {
  return Complex<R>(R(1)) / a;
}
template <class R>
TENON_DEVICE Complex<R> fma(Complex<R> a, Complex<R> b, Complex<R> c) {
  return cuda_m::add(cuda_m::mul(a, b), c);
}
template <class R>
TENON_DEVICE Complex<R> conj(Complex<R> a) {
  return {a.real(), -a.imag()};
}
template <class R>
TENON_DEVICE Complex<R> real(Complex<R> a) {
  return Complex<R>(a.real());
}
template <class R>
TENON_DEVICE Complex<R> imag(Complex<R> a) {
  return Complex<R>(a.imag());
}

template <class R>
TENON_DEVICE bool isnan(Complex<R> a) {
  return cuda_m::isnan(a.real()) || cuda_m::isnan(a.imag());
}
template <class R>
TENON_DEVICE bool isinf(Complex<R> a) {
  return cuda_m::isinf(a.real()) || cuda_m::isinf(a.imag());
}
template <class R>
TENON_DEVICE bool isfinite(Complex<R> a) {
  return cuda_m::isfinite(a.real()) && cuda_m::isfinite(a.imag());
}

template <class R>
TENON_DEVICE Complex<R> pow(Complex<R> a, Complex<R> b) {
  // Exactly, whatever the other operand is: the logarithm would make NaN of infinities and of 0.
  if (b == Complex<R>() || a == Complex<R>(R(1))) return Complex<R>(R(1));
  if (b == Complex<R>(R(1))) return a;
  if (b == Complex<R>(R(2))) return cuda_m::mul(a, a);
  if (a == Complex<R>()) return Complex<R>();
  return thrust::pow(a, b);
}
#define TENON_UNARY(name)                      \
  template <class R>                           \
  TENON_DEVICE Complex<R> name(Complex<R> a) { \
    return thrust::name(a);                    \
  }
TENON_UNARY(exp)
TENON_UNARY(log)
TENON_UNARY(log10)
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
#undef TENON_UNARY
template <class R>
TENON_DEVICE Complex<R> exp2(Complex<R> a) {
  return thrust::exp(a * R(0.693147180559945309417));
}
/// exp(a) - 1 without cancellation near 0
template <class R>
TENON_DEVICE Complex<R> expm1(Complex<R> a) {
  const R e = std::expm1(a.real()), s = std::sin(a.imag() / 2);
  return {e * std::cos(a.imag()) - 2 * s * s, (e + 1) * std::sin(a.imag())};
}
template <class R>
TENON_DEVICE Complex<R> log2(Complex<R> a) {
  return thrust::log(a) * R(1.44269504088896340736);
}
/// log(1 + a) without cancellation near 0
template <class R>
TENON_DEVICE Complex<R> log1p(Complex<R> a) {
  const R x = a.real(), y = a.imag();
  const R angle = std::atan2(y, 1 + x);
  if (std::fabs(x) > R(0.5) || std::fabs(y) > R(0.5))
    return {std::log(std::hypot(1 + x, y)), angle};
  return {std::log1p(x * (2 + x) + y * y) / 2, angle};
}
template <class R>
TENON_DEVICE Complex<R> rsqrt(Complex<R> a) {
  return Complex<R>(R(1)) / thrust::sqrt(a);
}
template <class R>
TENON_DEVICE Complex<R> sigmoid(Complex<R> a) {
  return Complex<R>(R(1)) / (Complex<R>(R(1)) + thrust::exp(cuda_m::neg(a)));
}

}  // namespace tenon::native::cuda_m
