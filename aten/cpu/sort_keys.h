#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// Unsigned keys that order as the numbers do, NaN last and -0 equal to 0; `inverted` turns the
/// order round. Types of at most 32 bits have 32-bit keys, the others 64-bit ones.
void make_keys(ScalarType type, const void* values, int64_t n, bool inverted, uint32_t* keys);
void make_keys(ScalarType type, const void* values, int64_t n, bool inverted, uint64_t* keys);
bool has_short_keys(ScalarType type);

/// The smallest of the keys.
uint32_t smallest(const uint32_t* keys, int64_t n);

}  // namespace tenon::native
