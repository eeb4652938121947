#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

enum class GridInterpolation : int64_t { Bilinear, Nearest, Bicubic };

/// input [N, C, H, W] and grid [N, h, w, 2], or input [N, C, D, H, W] and grid [N, d, h, w, 3], of
/// one floating-point dtype. `order` has a number for each of 2 or 3 coordinates.
void check_grid_sampler(const TensorBase& input, const TensorBase& grid, int64_t interpolation_mode,
                        int64_t padding_mode, IntArrayRef order);

/// [N, C, h, w] or [N, C, d, h, w]
DimVector grid_sampler_sizes(const TensorBase& input, const TensorBase& grid);

}  // namespace tenon::meta
