#pragma once

#include "aten/core/tensor_base.h"
#include "aten/cuda/stream.h"

namespace tenon::cuda {

/// An uninitialised CPU tensor in page-locked memory, which GPUs read and write at full speed and
/// without the host waiting. The memory is cached when the tensor is gone, in size classes.
TENON_API TensorBase empty_pinned(IntArrayRef sizes, ScalarType dtype);
/// Whether a CPU tensor's memory is page-locked by empty_pinned().
TENON_API bool is_pinned(const TensorBase& tensor);
/// The tensor's pinned memory is not reused before the work submitted to `stream` so far is done.
TENON_API void record_pinned(const TensorBase& tensor, Stream stream);
/// Gives cached pinned memory back to the system.
TENON_API void empty_pinned_cache();

}  // namespace tenon::cuda
