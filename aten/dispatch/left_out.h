#pragma once

#include "aten/core/macros.h"

namespace tenon::detail {

/// NotImplementedError "aten::gelu is no part of this library, which was built for a list of
/// operators; ...".
[[noreturn]] TENON_COLD void raise_left_out(const char* op);

}  // namespace tenon::detail
