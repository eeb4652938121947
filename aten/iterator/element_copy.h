#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// dst = src, converted to dst's dtype and broadcast to its shape, whatever their strides and
/// devices. Errors "output with shape [3] doesn't match the broadcast shape [2, 3]" and, for
/// overlapping memory, those of every pointwise operator.
TENON_API void copy(const TensorBase& dst, const TensorBase& src);

/// What copy() calls when a tensor is on a device of that type and the other there or on the CPU;
/// set by the device's library. Without one, copy() goes through memory of the CPU, with
/// DeviceInterface::copy_bytes (aten/core/device_interface.h).
using DeviceCopy = void (*)(const TensorBase& dst, const TensorBase& src);
TENON_API void register_device_copy(DeviceType type, DeviceCopy copy);

}  // namespace tenon::native
