#pragma once

#include "tenon/tensor.h"

/// Tensors whose conjugate or negative bit is set, which are views of memory that holds the
/// conjugates or negatives of their elements. They have the backend Unresolved besides their
/// device's, so that calls of other tensors test nothing. Views and what is made of operators take
/// them as they are. Every other operator gets copies, by the backend's fallback.
namespace tenon::unresolved {

/// Registers the fallback and the kernels; called before the first such tensor is made.
TENON_API void register_kernels();

/// A view of the same elements of memory with these bits.
Tensor with_bits(const Tensor& self, bool conj, bool neg);

}  // namespace tenon::unresolved
