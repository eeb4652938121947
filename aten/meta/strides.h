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

/// Strides of a result of the sizes of `input` whose elements lie in the same order, without gaps.
inline DimVector preserved_strides(const TensorBase& input) {
  const TensorBase* one = &input;
  return input.is_contiguous() ? DimVector() : native::output_strides(input.sizes(), one);
}

}  // namespace tenon::meta
