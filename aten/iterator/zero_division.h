#pragma once

#include "aten/core/macros.h"

namespace tenon::native {

/// Records, for the calling thread, that an integer was divided by zero. Vector code calls this and
/// goes on with some divisor; whoever ran the loop asks `take_zero_division` and throws.
TENON_API void note_zero_division();

/// True if a division by zero was recorded on this thread since the last call.
TENON_API bool take_zero_division();

/// Throws ZeroDivisionError "[op] integer division by zero".
[[noreturn]] void raise_zero_division(const char* op);

}  // namespace tenon::native
