#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::cuda {

/// dst = src, converted to dst's dtype and broadcast to its shape, where one of them at least is on
/// a GPU; any strides. Runs on the current streams of the GPUs involved. The host waits only where
/// it must: when it reads or writes pageable memory, and, unless `non_blocking`, for pinned memory
/// too. A 0-dim CPU tensor is passed to the kernel as a number.
TENON_API void copy(const TensorBase& dst, const TensorBase& src, bool non_blocking = false);

}  // namespace tenon::cuda
