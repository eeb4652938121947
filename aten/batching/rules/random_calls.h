#pragma once

#include "aten/batching/rules/rule.h"

namespace tenon::batching {

/// Error unless random numbers may be drawn for each example of the call's level.
void check_randomness(const Call& call);
/// A random operator while a function is batched, with or without batched arguments, by the
/// randomness of the innermost level.
void run_random(const OperatorEntry& op, const schema::FunctionSchema& schema, Stack& stack);

}  // namespace tenon::batching
