#pragma once

#include "aten/core/scalar.h"
#include "aten/iterator/convert.h"

namespace tenon::native {

/// Writes `value` as an element of a storage-only type. Float8 types round to nearest, ties to
/// even; what is too large, infinities included, is infinity in e5m2, the largest number in e4m3fn
/// and NaN in the other two. Unsigned integers are cut off and wrap around.
TENON_API void store_storage_only(void* to, const Scalar& value, ScalarType type);
/// The number that an element of a storage-only type is. NotImplementedError for a UInt64 of 2^63
/// or more, which no Scalar holds.
TENON_API Scalar storage_only_value(const void* from, ScalarType type);

/// Converts elements where one dtype or both are storage-only, element by element: float8 by way of
/// float, unsigned integers as C++ does, but that negative numbers wrap around.
TENON_API Converter storage_only_converter(ScalarType dst, ScalarType src);

}  // namespace tenon::native
