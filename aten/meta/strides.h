#pragma once

#include "aten/iterator/plan.h"

namespace tenon::meta {

/// Strides, for a TensorSpec, of a result of these sizes that keeps the memory format of `input`,
/// which has four dimensions where that is not row-major.
inline DimVector strides_like(const TensorBase& input, IntArrayRef sizes) {
  const MemoryFormat format =
      input.dim() == 4 ? input.suggest_memory_format() : MemoryFormat::Contiguous;
  return format == MemoryFormat::Contiguous ? DimVector() : strides_of_format(sizes, format);
}

}  // namespace tenon::meta
