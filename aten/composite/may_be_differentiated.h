#pragma once

#include "aten/core/thread_state.h"
#include "tenon/tensor.h"

namespace tenon {

/// Whether a gradient or a tangent of what is computed from `t` may be asked for. Values whose
/// derivative is made of vectors, as that of eigenvalues, are then computed together with these.
inline bool may_be_differentiated(const Tensor& t) {
  return t.requires_grad() ||
         DispatchKeySet(thread_state.enabled_layers, 0).has(DispatchLayer::ForwardGrad);
}

}  // namespace tenon
