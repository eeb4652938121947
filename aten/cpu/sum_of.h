#pragma once

#include <type_traits>

#include "aten/core/scalar_type.h"

namespace tenon::native {

/// a + b in an element's type: of bools "or", of half types rounded from float.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_class_v<T> && !tenon::is_complex(scalar_type_of<T>)) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

/// a * b in the same way; of bools "and".
template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (std::is_class_v<T> && !tenon::is_complex(scalar_type_of<T>)) {
    return T(static_cast<float>(a) * static_cast<float>(b));
  } else {
    return static_cast<T>(a * b);
  }
}

}  // namespace tenon::native
