#pragma once

#include "aten/cpu/product.h"
#include "aten/iterator/element_copy.h"

namespace tenon::native {

/// Row-major or channels last: the layouts that convolution and pooling kernels read and write.
inline bool has_dense_layout(const TensorBase& t) {
  return t.is_contiguous() || (t.dim() == 4 && t.is_contiguous(MemoryFormat::ChannelsLast)) ||
         (t.dim() == 5 && t.is_contiguous(MemoryFormat::ChannelsLast3d));
}

/// `t` itself if it has such a layout, else a row-major copy.
inline TensorBase dense_layout(const TensorBase& t) {
  return has_dense_layout(t) ? t : as_contiguous(t);
}

/// `t` in the layout of `like`, which has a dense one: itself, or a copy. Where one operand is
/// row-major and another channels last, oneDNN has no kernel but its reference, a hundred times
/// slower than the copy and a kernel.
inline TensorBase in_layout_of(const TensorBase& like, const TensorBase& t) {
  if (like.is_contiguous()) return as_contiguous(t);
  const MemoryFormat format =
      t.dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
  if (t.is_contiguous(format)) return t;
  TensorBase copied =
      empty_strided(t.sizes(), strides_of_format(t.sizes(), format), t.scalar_type(), t.device());
  copy(copied, t);
  return copied;
}

}  // namespace tenon::native
