#pragma once

#include <optional>

#include "aten/meta/strides.h"

namespace tenon::meta {

/// A window over the last two dimensions of [C, H, W] or [N, C, H, W].
struct Pool2d {
  int64_t planes;  ///< N * C
  int64_t in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;

  int64_t in_size() const { return in_h * in_w; }
  int64_t out_size() const { return out_h * out_w; }
};

/// Checks the arguments of operator `op`; out = (in + 2 pad - dilation (kernel - 1) - 1) / stride +
/// 1, rounded down, or up with `ceil_mode` as long as the last window starts inside the input or
/// its left padding. A list of one value stands for two; an empty stride means the kernel's size.
Pool2d pool2d(const char* op, const TensorBase& input, IntArrayRef kernel_size, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);

/// Geometry of adaptive pooling between two tensors; it has no kernel, stride or padding.
Pool2d adaptive_pool2d(const TensorBase& input, const TensorBase& output);

/// `dims` dimensions of `self`, behind one or two others, become `output_size`.
void check_adaptive_max_pool(const char* op, const TensorBase& self, IntArrayRef output_size,
                             int64_t dims);

/// The input's sizes with the last two replaced.
DimVector plane_sizes(const TensorBase& input, int64_t h, int64_t w);

}  // namespace tenon::meta
