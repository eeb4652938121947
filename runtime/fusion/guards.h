#pragma once

#include <string>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::fusion {

/// What must be the same in later calls: the sizes, the dtype and the device of a tensor.
struct Guard {
  explicit Guard(const Tensor& t)
      : sizes(t.sizes().vec()), dtype(t.scalar_type()), device(t.device()) {}

  bool holds(const Tensor& t) const {
    return t.sizes() == IntArrayRef(sizes) && t.scalar_type() == dtype && t.device() == device;
  }
  /// "[2, 3] of Float on cpu"
  std::string text() const {
    return tenon::detail::concat(IntArrayRef(sizes), " of ", dtype, " on ", device);
  }

  std::vector<int64_t> sizes;
  ScalarType dtype;
  Device device;
};

}  // namespace tenon::fusion
