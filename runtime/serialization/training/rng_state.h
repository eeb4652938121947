#pragma once

#include "aten/core/generator.h"
#include "tenon/tensor.h"

namespace tenon::serialization {

/// All of a generator's state as bytes: for a CPU generator those of torch.get_rng_state(), for
/// others the seed and the offset in 8 bytes each.
TENON_API Tensor rng_state(const Generator& generator = default_generator());
/// Puts a generator into a state that rng_state() or torch.get_rng_state() gave. TypeError for a
/// tensor that is not of dtype Byte, ValueError for bytes that are no state of such a generator.
TENON_API void set_rng_state(const Tensor& state, const Generator& generator = default_generator());

}  // namespace tenon::serialization
