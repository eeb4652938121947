#pragma once

#include "tenon/ops/to.h"

namespace tenon {

/// The dtype in which what several operators make of elements of `dtype` is rounded once: half
/// types compute as floats.
inline ScalarType wide(ScalarType dtype) {
  return is_reduced_floating_point(dtype) ? kFloat : dtype;
}

inline Tensor wide(const Tensor& t) { return t.to(wide(t.scalar_type())); }

}  // namespace tenon
