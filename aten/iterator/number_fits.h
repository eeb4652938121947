#pragma once

#include "aten/core/scalar.h"

namespace tenon::native {

/// Whether the number can be stored in the type: an integer type holds what is in its range, and
/// if it is unsigned as many integers below zero, which wrap around; a floating-point type what
/// does not overflow, infinities and NaN; a real type nothing with an imaginary part. Fractions are
/// cut off, which is no obstacle.
TENON_API bool number_fits(const Scalar& value, ScalarType type);

/// "[op] value cannot be converted to type Byte without overflow, got 300" unless it fits.
inline void check_number_fits(const char* op, const Scalar& value, ScalarType type) {
  TENON_CHECK(number_fits(value, type), "[", op, "] value cannot be converted to type ", type,
              " without overflow, got ", value);
}

/// Largest number up to which every integer is a value of the type.
TENON_API int64_t largest_exact(ScalarType type);

}  // namespace tenon::native
