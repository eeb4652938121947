#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// dst = src, converted to dst's dtype and broadcast to its shape, between CPU tensors of any
/// strides. Errors "output with shape [3] doesn't match the broadcast shape [2, 3]" and, for
/// overlapping memory, those of every pointwise operator.
TENON_API void copy(const TensorBase& dst, const TensorBase& src);

/// What copy() calls when either tensor is not on the CPU; set by the library of that device.
using DeviceCopy = void (*)(const TensorBase& dst, const TensorBase& src);
TENON_API void register_device_copy(DeviceCopy copy);

}  // namespace tenon::native
