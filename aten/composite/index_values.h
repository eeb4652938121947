#pragma once

#include "tenon/tensor.h"

namespace tenon::native {

/// That each element of `index` is a place of self's dimension d, from 0 on: an IndexError here,
/// for operators made of others that have another class. Kernels of other devices check alone.
void check_index_values(const char* op, const Tensor& index, int64_t d, const Tensor& self);

}  // namespace tenon::native
