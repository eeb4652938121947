#pragma once

#include <set>
#include <string>
#include <vector>

#include "aten/core/macros.h"

/// Which operators a program calls, for a build with only those (docs/selective_build.md). Only an
/// operator's first call takes longer. The environment variable TENON_OPERATOR_TRACE=FILE traces a
/// whole program and writes FILE when it ends.
namespace tenon {

struct OperatorEntry;

/// From now on the first call of each generated operator is noted. Error if a trace is running.
TENON_API void start_operator_trace();
/// Stops; the operators called since start, "aten::add.Tensor", sorted. Error if no trace is
/// running.
TENON_API std::vector<std::string> stop_operator_trace();
/// Writes the operators one per line. Error, with the path, if it cannot be written.
TENON_API void write_operator_trace(const std::string& path,
                                    const std::vector<std::string>& operators);

namespace detail {

struct Registry;

/// The operators called so far.
struct OperatorTrace {
  std::set<std::string> called;
};

/// Empties the operator's table, so that its next call is noted. The registry is locked.
void trap(Registry& registry, OperatorEntry& op);
/// Notes the operator if it is trapped, and gives it its table back. The registry is not locked.
bool spring_trap(Registry& registry, const OperatorEntry& op);
/// Begins the trace that the environment asks for, once, when the registry is made.
void trace_if_asked(Registry& registry);

}  // namespace detail
}  // namespace tenon
