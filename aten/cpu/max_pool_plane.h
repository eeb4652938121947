#pragma once

#include <cstdint>

#include "aten/meta/pooling.h"

namespace tenon::native {

/// Maxima of one plane and their positions, for windows of dilation 1 in height and stride 1 or 2
/// in width, by vectors across the output's columns [first, last), whose windows lie inside the
/// input's width. Returns the end of the columns done: `first` where there are fewer columns than
/// lanes or the windows are others.
int64_t max_pool_columns(const meta::Pool2d& p, const float* in, int64_t first, int64_t last,
                         float* out, int64_t* indices);

}  // namespace tenon::native
