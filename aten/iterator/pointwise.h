#pragma once

#include "aten/iterator/plan.h"

// How generated operators run. In all of these `inputs` and `scalars` are what the operator's
// kernel expects, in its order. Errors carry PyTorch's texts; an integer divided by zero is
// ZeroDivisionError "[op] integer division by zero".

namespace tenon::native {

/// The operator's only output, newly allocated in the operands' broadcast shape.
TENON_API TensorBase pointwise(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                               ArrayRef<const Scalar*> scalars = {});

/// Into `out`, which is resized to the broadcast shape if it has another; its dtype must be able to
/// hold the result's category.
TENON_API void pointwise_out(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                             ArrayRef<const Scalar*> scalars, const TensorBase& out);

/// Into inputs[0], whose shape and dtype stay. The caller counts the change of version.
TENON_API void pointwise_inplace(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                                 ArrayRef<const Scalar*> scalars = {});

/// Several outputs, all in the broadcast shape and the result dtype. Output k is computed if bit k
/// of `wanted` is set, and left undefined otherwise.
TENON_API void pointwise_multi(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                               ArrayRef<const Scalar*> scalars, TensorBase* outs,
                               uint32_t wanted = ~0u);

/// Whether generated kernels run where the tensors are; elsewhere, and if one of them is sparse or
/// unresolved, the same is computed with operators.
template <class... Tensors>
bool has_pointwise_kernels(const Tensors&... tensors) {
  constexpr uint8_t kOthers =
      (DispatchKeySet(Backend::PrivateUse1) | DispatchKeySet(Backend::SparseCPU) |
       DispatchKeySet(Backend::SparseCsrCPU) | DispatchKeySet(Backend::Unresolved))
          .backends;
  return !((tensors.key_set().backends | ...) & kOthers);
}

}  // namespace tenon::native
