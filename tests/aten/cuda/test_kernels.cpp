#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "aten/dispatch/operator_entry.h"

namespace tenon::test {
namespace {

bool has_kernel(const OperatorEntry& op, Backend backend) {
  return op.kernels()[1 + static_cast<int>(backend)] != nullptr;
}

// Needs no GPU. docs/known_limits.md says why those that are named here have none.
TEST_CASE("what has a kernel on a CPU has one on CUDA") {
  const std::set<std::string> only_on_cpu = {"_linalg_svd"};
  size_t on_both = 0;
  std::set<std::string> missing;
  for (const OperatorEntry* op : all_operators()) {
    if (!has_kernel(*op, Backend::CPU)) continue;
    if (has_kernel(*op, Backend::CUDA)) {
      ++on_both;
    } else {
      const std::string name = op->qualified_name();
      missing.insert(name.substr(name.rfind(':') + 1));
    }
  }
  for (const std::string& name : missing) {
    INFO(name);
    CHECK(only_on_cpu.count(name.substr(0, name.find('.'))));
  }
  for (const std::string& name : only_on_cpu) CHECK(missing.count(name));
  CHECK(on_both > 300);
}

}  // namespace
}  // namespace tenon::test
