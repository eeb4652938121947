#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// self [N, C] with target [N], or [C] with []; weight [C] or null.
void check_nll_loss(const char* op, const TensorBase& self, const TensorBase& target,
                    const TensorBase* weight);

/// The same of self [C], [N, C] or [N, C, d1, ...] with target [], [N] or [N, d1, ...]. The sizes
/// of the batch that do not fit are a ValueError.
void check_nll_loss_nd(const TensorBase& self, const TensorBase& target, const TensorBase* weight);

}  // namespace tenon::meta
