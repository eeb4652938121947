#pragma once

#include "aten/core/tensor_base.h"

namespace tenon {

/// What a structured operator's meta function says of one output.
struct TensorSpec {
  DimVector sizes;
  DimVector strides;  ///< in elements; empty: row-major
  ScalarType dtype;
  Device device;
  bool casts = false;      ///< an `out` may have another dtype that `dtype` can be cast to
  bool condition = false;  ///< an `out` is of Bool or bytes
  bool apart = false;      ///< an `out` may share no element with an input
  /// Nor may one that replaces `self`, or is it, with the other inputs.
  bool apart_from_others = false;

  TensorSpec(IntArrayRef sizes_, ScalarType dtype_, Device device_)
      : sizes(sizes_), dtype(dtype_), device(device_) {}
  TensorSpec(IntArrayRef sizes_, IntArrayRef strides_, ScalarType dtype_, Device device_)
      : sizes(sizes_), strides(strides_), dtype(dtype_), device(device_) {}
  /// The sizes with dtype and device of `like`.
  TensorSpec(IntArrayRef sizes_, const TensorBase& like)
      : TensorSpec(sizes_, like.scalar_type(), like.device()) {}

  /// The same for a result of which an `out` may have another dtype.
  TensorSpec casting() && {
    casts = true;
    return std::move(*this);
  }
  /// The same for a result that is true or false.
  TensorSpec as_condition() && {
    condition = true;
    return std::move(*this);
  }
  /// The same for a result that is written over `self` while the other inputs are read.
  TensorSpec kept_apart_from_others() && {
    apart_from_others = true;
    return std::move(*this);
  }
  /// The same for a result that must not be written over an input.
  TensorSpec kept_apart() && {
    apart = true;
    return std::move(*this);
  }
};

}  // namespace tenon
