#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// Windows of one size whose places along each of `dims` dimensions are random: [C, D, H, W] or
/// [N, C, D, H, W] to `out`, without D in two dimensions, where D, its window and `out` are 1.
struct FractionalPool {
  int64_t dims, batch, channels;
  int64_t in[3], kernel[3], out[3];

  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
};

/// Checks the arguments of operator `op`; random_samples is [batch, channels, dims].
FractionalPool fractional_pool(const char* op, const TensorBase& self, IntArrayRef kernel_size,
                               IntArrayRef output_size, const TensorBase& random_samples,
                               int64_t dims);

}  // namespace tenon::meta
