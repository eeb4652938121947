#pragma once

#include "aten/core/error.h"
#include "aten/core/scalar_type.h"

namespace tenon::native {

/// What a norm of elements of `from` may be computed in: the same kind of numbers, no narrower.
inline void check_norm_dtype(const char* op, ScalarType from, ScalarType dtype) {
  TENON_CHECK(is_differentiable(dtype), "[", op,
              "] dtype should be floating point or complex, but got ", dtype);
  TENON_CHECK(is_complex(from) == is_complex(dtype), "[", op, "] dtype should be ",
              is_complex(from) ? "complex for complex" : "real for real", " inputs, but got ",
              dtype);
  TENON_CHECK(promote_types(from, dtype) == dtype, "[", op, "] the dtype of the input (", from,
              ") should be convertible without narrowing to the specified dtype (", dtype, ")");
}

}  // namespace tenon::native
