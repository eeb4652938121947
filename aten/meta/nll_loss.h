#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// self [N, C] with target [N], or [C] with []; weight [C] or null.
void check_nll_loss(const char* op, const TensorBase& self, const TensorBase& target,
                    const TensorBase* weight);

}  // namespace tenon::meta
