#pragma once

#include <cstdint>

namespace tenon::native {

/// Columns that a panel of b holds, on this machine.
template <class W>
int64_t integer_panel();

/// Rows [m] of out = a @ b modulo 2^32 or 2^64, for a [m, k] row-major, b in panels [k, width] of
/// width = integer_panel() columns, out [m, panels * width] row-major. On the calling thread.
template <class W>
void integer_product(int64_t m, int64_t panels, int64_t k, const W* a, const W* b, W* out);

template <>
int64_t integer_panel<uint32_t>();
template <>
int64_t integer_panel<uint64_t>();
template <>
void integer_product<uint32_t>(int64_t, int64_t, int64_t, const uint32_t*, const uint32_t*,
                               uint32_t*);
template <>
void integer_product<uint64_t>(int64_t, int64_t, int64_t, const uint64_t*, const uint64_t*,
                               uint64_t*);

}  // namespace tenon::native
