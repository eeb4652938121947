#pragma once

#include "aten/iterator/pointwise_op.h"

// Two operators as the generator would emit them, and a few small ones that exercise the engine.
namespace tenon::native {

extern const PointwiseOp mul_op;                ///< self * other
extern const PointwiseOp silu_mul_op;           ///< silu(self) * gate
extern const PointwiseOp silu_mul_backward_op;  ///< grad, self, gate -> grad_self, grad_gate

extern const PointwiseOp add_op;           ///< self + alpha * other
extern const PointwiseOp lt_op;            ///< self < other
extern const PointwiseOp where_op;         ///< condition ? self : other
extern const PointwiseOp floor_divide_op;  ///< self // other
extern const PointwiseOp abs_op;           ///< |self|
extern const PointwiseOp exp_op, tanh_op, sigmoid_op, erf_op, gelu_op, log1p_op, expm1_op, log_op,
    rsqrt_op, relu_op, sin_op;

}  // namespace tenon::native
