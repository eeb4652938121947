#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::nn::detail {

/// Makes `self` the tensor that `data` is: its memory, geometry, dtype and device. Whoever holds `self` sees the change;
/// its autograd state stays. `self` must not be a view.
TENON_API void set_data(const TensorBase& self, const TensorBase& data);

}  // namespace tenon::nn::detail
