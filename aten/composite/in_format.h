#pragma once

#include "tenon/tensor.h"

namespace tenon {

/// `t` in memory as the format has it. Its strides are those of the format in dimensions of one
/// element too, where they say nothing of memory but tell the next operator which format it is.
inline Tensor in_format(const Tensor& t, MemoryFormat format) {
  const Tensor out = t.contiguous(format);
  const DimVector strides = strides_of_format(out.sizes(), format);
  return out.strides() == IntArrayRef(strides) ? out : out.as_strided(out.sizes(), strides);
}

}  // namespace tenon
