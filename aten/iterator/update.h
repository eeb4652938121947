#pragma once

#include "aten/iterator/plan.h"

namespace tenon::native {

/// Each output of the operator into the tensor of `written` in its place. All of these have one
/// shape, to which the inputs, they among them, are broadcast; every element of an input is read
/// before an output in its place is written. Errors name the tensors by `names`: another shape, a
/// dtype that cannot hold the result, two that share memory. The caller counts the changes of
/// version.
TENON_API void pointwise_update(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                                ArrayRef<const Scalar*> scalars,
                                ArrayRef<const TensorBase*> written, const char* const* names);

}  // namespace tenon::native
