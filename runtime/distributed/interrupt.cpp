#include "runtime/distributed/interrupt.h"

#include <atomic>

namespace tenon::distributed::detail {
namespace {

std::atomic<void (*)()> the_check{nullptr};

}  // namespace

void set_interrupt_check(void (*check)()) { the_check = check; }

bool has_interrupt_check() { return the_check != nullptr; }

void check_interrupt() {
  if (const auto check = the_check.load()) check();
}

}  // namespace tenon::distributed::detail
