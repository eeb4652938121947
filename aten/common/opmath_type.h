#pragma once

#include <complex>
#include <type_traits>

#include "aten/core/scalar_type.h"

namespace tenon {

namespace detail {

template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<Half> {
  using type = float;
};
template <>
struct OpMathType<BFloat16> {
  using type = float;
};

template <class T>
struct AccType {
  using type = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
};
template <class R>
struct AccType<std::complex<R>> {
  using type = std::complex<double>;
};

}  // namespace detail

/// The type that a kernel computes elements of T in: float for half types, otherwise T.
template <class T>
using opmath_type = typename detail::OpMathType<T>::type;

/// The same of dtypes.
inline ScalarType to_opmath_type(ScalarType dtype) {
  return is_reduced_floating_point(dtype) ? kFloat : dtype;
}

/// The wider type of running sums and products of T on the CPU: double, complex<double>, or int64
/// for integers and bool.
template <class T>
using acc_type = typename detail::AccType<T>::type;

}  // namespace tenon
