#pragma once

#include "aten/common/opmath_type.h"
#include "tenon/ops/to.h"

namespace tenon {

/// `t` in the dtype in which several operators compute before the result is rounded once.
inline Tensor to_opmath_type(const Tensor& t) { return t.to(to_opmath_type(t.scalar_type())); }

}  // namespace tenon
