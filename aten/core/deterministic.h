#pragma once

#include "aten/core/macros.h"

namespace tenon {

/// Whether operators must give the same result, to the last bit, in every run on the same machine;
/// not at first. On a CPU they always do. On CUDA sums of floating-point numbers by index
/// (`scatter_add`, `index_add`, `index_put_` with `accumulate`, the gradients of `embedding` and
/// `max_pool2d`) then sort their elements by place and add in order, which takes longer; the others
/// are the same in every run anyway. For all threads.
TENON_API bool deterministic_algorithms();
TENON_API void set_deterministic_algorithms(bool on);

}  // namespace tenon
