#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// A tensor with the same elements, sizes and strides in memory of the CPU: `t` itself if it is
/// there. Error if the device's library has no DeviceInterface.
TENON_API TensorBase on_host(const TensorBase& t);

/// copy() between tensors of any two devices, through memory of the CPU.
TENON_API void copy_through_host(const TensorBase& dst, const TensorBase& src);

}  // namespace tenon::native
