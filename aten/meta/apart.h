#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::structured {

/// Whether both show some of the same bytes. Tensors with gaps are taken to lie apart.
TENON_API bool overlap(const TensorBase& out, const TensorBase& input);

/// For operators that must not write over what they read: error "[op] unsupported operation: some
/// elements of the input tensor and the written-to tensor refer to a single memory location. ...",
/// or that several elements of `out` do.
TENON_API void check_apart(const char* op, const TensorBase& out,
                           ArrayRef<const TensorBase*> inputs);

}  // namespace tenon::structured
