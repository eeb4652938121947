#pragma once

#include "aten/cpu/avg_pool_plane.h"

namespace tenon::native {

/// Whether `t` is [N, C, H, W] with the channels running fastest, and not row-major as well.
inline bool is_channels_last(const TensorBase& t) {
  return t.dim() == 4 && !t.is_contiguous() && t.is_contiguous(MemoryFormat::ChannelsLast);
}

/// One window of a maximum: rows h0, h0 + step_h, ... below h1, columns likewise; not empty.
struct MaxWindow {
  int64_t h0, h1, step_h, w0, w1, step_w;
};

/// One pixel of pooling a channels-last image [H, W, channels] of `width` pixels a row, by vectors
/// across the channels. average: out[c] = sum of the window / divisor, 0 for an empty one.
void average_pixel(const float* image, int64_t width, int64_t channels, const AverageWindow& window,
                   float* out);
void average_pixel(const double* image, int64_t width, int64_t channels,
                   const AverageWindow& window, double* out);
/// out[c] = the maximum, NaN before any number; index[c] = its position h * width + w, the first of
/// several and below 2^31.
void max_pixel(const float* image, int64_t width, int64_t channels, const MaxWindow& window,
               float* out, int64_t* index);

}  // namespace tenon::native
