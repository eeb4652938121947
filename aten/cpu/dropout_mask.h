#pragma once

#include <cstdint>

namespace tenon::native {

/// keep[i] = 1 with probability 1 - p for i < n, from bits that depend only on the key and first +
/// i, so that every division of the work among threads draws the same.
void draw_mask(uint64_t key, uint64_t first, double p, bool* keep, int64_t n);

/// out[i] = in[i] * (keep[i] ? scale : 0) for T float or double.
void apply_mask(const float* in, const bool* keep, float scale, float* out, int64_t n);
void apply_mask(const double* in, const bool* keep, double scale, double* out, int64_t n);

}  // namespace tenon::native
