#pragma once

#include <type_traits>

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

}  // namespace tenon::native
