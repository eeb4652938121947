#pragma once

#include "aten/core/scalar_type.h"

namespace tenon::distributed {

/// How the ranks' elements become one. Of Bool, SUM, MAX and BOR are "or", PRODUCT, MIN and BAND
/// "and", BXOR "odd number of". AVG is of floating-point and complex types, BAND, BOR and BXOR of
/// integers and Bool, MIN and MAX of all but complex types and give NaN if any is NaN. Float8 types
/// are not reduced. Half types are added in float and rounded after each addition.
enum class ReduceOp : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR };

TENON_API const char* to_string(ReduceOp op);

namespace detail {

/// out[i] = a[i] op b[i] for n elements; out may be a or b. AVG adds.
using ReduceFunction = void (*)(void* out, const void* a, const void* b, size_t n);
/// NotImplementedError "[all_reduce] ..." if the operation is not defined for the type.
TENON_API ReduceFunction reduce_function(ReduceOp op, ScalarType dtype, const char* collective);
/// data[i] /= divisor, for the types that AVG is defined for.
void divide(void* data, size_t n, ScalarType dtype, int divisor);

}  // namespace detail

}  // namespace tenon::distributed
