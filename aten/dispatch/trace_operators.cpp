#include "aten/dispatch/trace_operators.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "aten/dispatch/registry.h"

namespace tenon {
namespace detail {
namespace {

const char* const kVariable = "TENON_OPERATOR_TRACE";

void write_at_exit() {
  try {
    write_operator_trace(std::getenv(kVariable), stop_operator_trace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon: %s: %s\n", kVariable, error.what());
  }
}

}  // namespace

void trap(Registry& registry, OperatorEntry& op) {
  if (!op.boxed) return;  // defined at run time: no build could leave it out
  OperatorRecord& record = registry.record(op);
  record.trapped = true;
  record.update_table();
}

bool spring_trap(Registry& registry, const OperatorEntry& op) {
  std::lock_guard lock(registry.mutex);
  const auto found = registry.records.find(&op);
  if (found == registry.records.end() || !found->second.trapped) return false;
  found->second.trapped = false;
  found->second.update_table();
  if (registry.trace) registry.trace->called.insert(op.qualified_name());
  return true;
}

void trace_if_asked(Registry& registry) {
  const char* path = std::getenv(kVariable);
  if (!path || !*path) return;
  registry.trace = std::make_unique<OperatorTrace>();
  std::atexit(write_at_exit);
}

}  // namespace detail

using detail::registry;

void start_operator_trace() {
  detail::Registry& r = registry();
  std::lock_guard lock(r.mutex);
  TENON_CHECK(!r.trace, "[start_operator_trace] a trace is running already");
  r.trace = std::make_unique<detail::OperatorTrace>();
  for (const auto& [name, op] : r.by_name) detail::trap(r, *op);
}

std::vector<std::string> stop_operator_trace() {
  detail::Registry& r = registry();
  std::lock_guard lock(r.mutex);
  TENON_CHECK(r.trace, "[stop_operator_trace] no trace is running");
  const auto trace = std::move(r.trace);
  for (auto& [op, record] : r.records) {
    if (!record.trapped) continue;
    record.trapped = false;
    record.update_table();
  }
  return {trace->called.begin(), trace->called.end()};
}

void write_operator_trace(const std::string& path, const std::vector<std::string>& operators) {
  std::ofstream out(path, std::ios::trunc);
  out << "# Operators that were called; cmake -DTENON_OPERATORS=FILE builds a library of these.\n";
  for (const std::string& name : operators) out << name << '\n';
  TENON_CHECK(out.flush(), "[write_operator_trace] cannot write ", path);
}

}  // namespace tenon
