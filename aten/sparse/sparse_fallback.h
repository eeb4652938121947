#pragma once

#include "aten/dispatch/kernel.h"

namespace tenon::sparse {

/// For operators without a kernel for sparse tensors.
///   in-place and out forms    run the functional form
///   elementwise, one tensor   run on the elements, if the value at zero is zero
/// Otherwise NotImplementedError.
void fallback(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);

}  // namespace tenon::sparse
