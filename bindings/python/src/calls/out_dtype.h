#pragma once

#include <optional>

#include "aten/core/tensor_base.h"

namespace tenon::python {

/// Of a factory's form with `out`: "dtype Double does not match dtype of out parameter (Float)"
/// unless they agree.
inline void check_out_dtype(std::optional<ScalarType> dtype, const TensorBase& out) {
  TENON_CHECK(!dtype || *dtype == out.scalar_type(), "dtype ", *dtype,
              " does not match dtype of out parameter (", out.scalar_type(), ")");
}

}  // namespace tenon::python
