#pragma once

#include "aten/core/scalar_type.h"
#include "aten/cpu/sum_of.h"

namespace tenon::native {

// What reductions by index do with an element `a` that is there and `b` that comes to it.

struct Assign {
  template <class T>
  T operator()(T, T b) const {
    return b;
  }
};

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return sum_of(a, b);
  }
};

struct Product {
  template <class T>
  T operator()(T a, T b) const {
    return product_of(a, b);
  }
};

/// The larger one, or the smaller; NaN if one of them is.
template <bool kLargest>
struct Extreme {
  template <class T>
  T operator()(T a, T b) const {
    const T further = (kLargest ? a < b : b < a) ? b : a;
    if constexpr (is_floating_point(scalar_type_of<T>)) return b != b ? b : further;
    return further;
  }
};
using Largest = Extreme<true>;
using Smallest = Extreme<false>;

}  // namespace tenon::native
