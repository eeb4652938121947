#pragma once

#include <string>

#include "aten/dispatch/value.h"

namespace tenon {
struct OperatorEntry;
}

namespace tenon::ops_test {

/// Calls the operator with the arguments and compares what it does to memory with the annotations
/// of its schema: an argument is changed if and only if the schema says so; a result is the
/// argument that is written, or shares the memory of those of its alias set alone, or that of none
/// and of no other result. "" or what is wrong. Errors of the call pass through.
std::string alias_violation(const OperatorEntry& op, Stack arguments);

}  // namespace tenon::ops_test
