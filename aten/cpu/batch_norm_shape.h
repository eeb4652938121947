#pragma once

#include "aten/cpu/batch_norm_channels.h"
#include "aten/cpu/plain.h"

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

/// `t` in compute type, row-major or channels last as asked; itself if it is so already.
inline TensorBase in_layout(const TensorBase& t, ScalarType type, bool last) {
  const MemoryFormat format = !last          ? MemoryFormat::Contiguous
                              : t.dim() == 4 ? MemoryFormat::ChannelsLast
                                             : MemoryFormat::ChannelsLast3d;
  if (t.scalar_type() == type && t.is_contiguous(format)) return t;
  TensorBase fresh =
      empty_strided(t.sizes(), strides_of_format(t.sizes(), format), type, t.device());
  copy(fresh, t);
  return fresh;
}

}  // namespace tenon::native
