#pragma once

#include "aten/common/contiguous.h"
#include "aten/cpu/batch_norm_channels.h"

namespace tenon::native {

/// Whether a kernel over channels takes the tensor's memory as channels last.
inline bool channels_fastest(const TensorBase& t) {
  return (t.dim() == 4 && !t.is_contiguous() && t.is_contiguous(MemoryFormat::ChannelsLast)) ||
         (t.dim() == 5 && !t.is_contiguous() && t.is_contiguous(MemoryFormat::ChannelsLast3d));
}

inline ChannelShape channel_shape(const TensorBase& t, bool last) {
  const int64_t batch = t.size(0), channels = t.size(1);
  const int64_t inner = t.numel() == 0 ? 0 : t.numel() / (batch * channels);
  return {batch, channels, inner, last || inner == 1};
}

/// `t` in that dtype, contiguous or channels last as asked; itself if it is so already.
inline TensorBase in_layout(const TensorBase& t, ScalarType dtype, bool last) {
  return contiguous(t, dtype,
                    !last          ? MemoryFormat::Contiguous
                    : t.dim() == 4 ? MemoryFormat::ChannelsLast
                                   : MemoryFormat::ChannelsLast3d);
}

}  // namespace tenon::native
