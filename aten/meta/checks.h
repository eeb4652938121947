#pragma once

#include "aten/common/check_device.h"
#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// Both operands' dtype and device must agree: "[op] expected a and b to have the same dtype, but
/// got: ...".
inline void check_same(const char* op, const char* a_name, const TensorBase& a, const char* b_name,
                       const TensorBase& b) {
  TENON_CHECK(a.scalar_type() == b.scalar_type(), "[", op, "] expected ", a_name, " and ", b_name,
              " to have the same dtype, but got: ", a.scalar_type(), " != ", b.scalar_type());
  check_same_device(op, a_name, a, b_name, b);
}

/// `sizes` must broadcast to `wanted`.
inline void check_expandable(const char* op, const char* name, IntArrayRef sizes,
                             IntArrayRef wanted) {
  bool fits = sizes.size() <= wanted.size();
  for (size_t i = 1; fits && i <= sizes.size(); ++i) {
    const int64_t size = sizes[sizes.size() - i];
    fits = size == 1 || size == wanted[wanted.size() - i];
  }
  TENON_CHECK(fits, "[", op, "] ", name, " of shape ", sizes,
              " cannot be expanded to the result's shape ", wanted);
}

/// a * b + c of sizes and parameters of windows. "[op] kernel_size, stride, padding or dilation is
/// too large: ..." where int64 does not hold it.
inline int64_t multiply_add(const char* op, int64_t a, int64_t b, int64_t c) {
  int64_t product, sum;
  TENON_CHECK(!__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, c, &sum),
              "[", op, "] kernel_size, stride, padding or dilation is too large: ", a, " * ", b,
              " + ", c, " is beyond int64");
  return sum;
}

}  // namespace tenon::meta
