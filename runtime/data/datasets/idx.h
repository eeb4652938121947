#pragma once

#include <string>

#include "tenon/tensor.h"

namespace tenon::data {

/// Reads an IDX file, the format of MNIST and its kin, compressed by gzip or not, whatever its
/// name: two zero bytes, one for the element type, one for the number of dimensions, the sizes as
/// big-endian 32-bit numbers, the elements big-endian. Types Byte, Char, Short, Int, Float, Double.
/// Errors "[read_idx] 'x.gz': ..." give the offset in the uncompressed data.
TENON_API Tensor read_idx(const std::string& path);

}  // namespace tenon::data
