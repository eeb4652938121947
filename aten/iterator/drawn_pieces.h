#pragma once

#include "aten/iterator/mixed.h"

namespace tenon::native {

/// Whether run_in_drawn_pieces() serves a call: one draw, CPU tensors that lie as the result does
/// (single values aside), and enough elements.
bool serves_drawn_pieces(ArrayRef<Draw> draws, Device device, IntArrayRef shape,
                         ArrayRef<const TensorBase*> inputs);

/// pointwise_mixed() for such a call, over outputs that exist. A piece's numbers are used while
/// they are in the cache. Threads take turns at the generator, one piece after the other, and use
/// what they drew side by side, so that the numbers are those of one thread.
void run_in_drawn_pieces(const PointwiseOp& op, Draw draw, ResultTypes types,
                         ArrayRef<TensorBase> outputs, ArrayRef<const TensorBase*> inputs,
                         ArrayRef<const Scalar*> scalars,
                         const std::optional<Generator>& generator);

}  // namespace tenon::native
