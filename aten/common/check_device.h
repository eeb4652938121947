#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// Error "[op] Expected all tensors to be on the same device, but found at least two devices, cpu
/// (self) and meta (index)".
inline void check_same_device(const char* op, const char* a_name, const TensorBase& a,
                              const char* b_name, const TensorBase& b) {
  TENON_CHECK(a.device() == b.device(), "[", op,
              "] Expected all tensors to be on the same device, but found at least two devices, ",
              a.device(), " (", a_name, ") and ", b.device(), " (", b_name, ")");
}

}  // namespace tenon::meta
