#pragma once

#include "aten/cpu/product.h"

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

}  // namespace tenon::native
