#pragma once

#include "aten/dispatch/kernel.h"

namespace tenon::unresolved {

/// Runs an operator on copies without bits. Copies of arguments that it writes are copied back.
void fallback(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);

}  // namespace tenon::unresolved
