#pragma once

#include "aten/core/thread_state.h"
#include "tenon/tensor.h"

namespace tenon::autograd {

/// Whether a gradient may be changed in place: nobody but the holder of this reference sees its
/// memory, and nothing is recorded.
inline bool owned_alone(const Tensor& grad) {
  const TensorImpl& impl = *grad.unsafe_impl();
  return !GradMode::is_enabled() && impl.refs.count() == 1 && !impl.base && !impl.autograd_meta &&
         impl.has_memory && !impl.key_set.has(DispatchLayer::Python) &&
         impl.storage->refs.count() == 1 && grad.is_non_overlapping_and_dense();
}

}  // namespace tenon::autograd
