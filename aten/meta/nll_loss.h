#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// self [N, C] with target [N], or [C] with []; weight [C] or null.
void check_nll_loss(const char* op, const TensorBase& self, const TensorBase& target,
                    const TensorBase* weight);

/// The same of self [C], [N, C] or [N, C, d1, ...] with target [], [N] or [N, d1, ...]. The sizes
/// of the batch that do not fit are a ValueError.
void check_nll_loss_nd(const TensorBase& self, const TensorBase& target, const TensorBase* weight);

/// self [N, C, H, W] with target [N, H, W].
void check_nll_loss2d(const char* op, const TensorBase& self, const TensorBase& target,
                      const TensorBase* weight, int64_t reduction);

/// Of a backward: `each`, without reduction, grad_output has the target's shape.
void check_nll_loss_grad(const char* op, bool each, const TensorBase& grad_output,
                         const TensorBase& target, const TensorBase& total_weight);

}  // namespace tenon::meta
