#pragma once

#include <type_traits>

#include "aten/core/error.h"

namespace tenon::native {

/// `a / b` as formulas and compositions mean it: of two integers, their quotient as a real number.
template <class A, class B>
auto true_quotient(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    return static_cast<double>(a) / static_cast<double>(b);
  } else {
    return a / b;
  }
}

/// `a % b` as formulas and compositions mean it: with the sign of b. Throws where an integer is
/// divided by zero.
template <class A, class B>
auto true_remainder(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    TENON_CHECK(b != 0, "integer remainder of ", a, " by zero");
    const auto rest = b == B(-1) ? decltype(a % b)(0) : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    return a % b;
  }
}

}  // namespace tenon::native
