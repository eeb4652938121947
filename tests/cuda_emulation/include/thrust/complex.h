#pragma once

#include <complex>

// thrust::complex by std::complex.
namespace thrust {

template <class R>
struct alignas(2 * sizeof(R)) complex {
  using value_type = R;

  constexpr complex() : real_(0), imag_(0) {}
  constexpr complex(R real, R imag = R(0)) : real_(real), imag_(imag) {}
  constexpr complex(const std::complex<R>& z) : real_(z.real()), imag_(z.imag()) {}
  constexpr R real() const { return real_; }
  constexpr R imag() const { return imag_; }
  operator std::complex<R>() const { return {real_, imag_}; }

  complex& operator+=(const complex& b) { return *this = *this + b; }
  complex& operator*=(const complex& b) { return *this = *this * b; }
  friend complex operator+(const complex& a, const complex& b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  friend complex operator-(const complex& a, const complex& b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  friend complex operator*(const complex& a, const complex& b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  friend complex operator/(const complex& a, const complex& b) {
    return std::complex<R>(a) / std::complex<R>(b);
  }
  friend bool operator==(const complex& a, const complex& b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }

 private:
  R real_, imag_;
};

#define TENON_EMULATED_UNARY(name)        \
  template <class R>                      \
  complex<R> name(const complex<R>& z) {  \
    return std::name(std::complex<R>(z)); \
  }
TENON_EMULATED_UNARY(exp)
TENON_EMULATED_UNARY(log)
TENON_EMULATED_UNARY(log10)
TENON_EMULATED_UNARY(sqrt)
TENON_EMULATED_UNARY(sin)
TENON_EMULATED_UNARY(cos)
TENON_EMULATED_UNARY(tan)
TENON_EMULATED_UNARY(asin)
TENON_EMULATED_UNARY(acos)
TENON_EMULATED_UNARY(atan)
TENON_EMULATED_UNARY(sinh)
TENON_EMULATED_UNARY(cosh)
TENON_EMULATED_UNARY(tanh)
TENON_EMULATED_UNARY(asinh)
TENON_EMULATED_UNARY(acosh)
TENON_EMULATED_UNARY(atanh)
#undef TENON_EMULATED_UNARY

template <class R>
complex<R> pow(const complex<R>& a, const complex<R>& b) {
  return std::pow(std::complex<R>(a), std::complex<R>(b));
}
template <class R>
R abs(const complex<R>& z) {
  return std::abs(std::complex<R>(z));
}

}  // namespace thrust
