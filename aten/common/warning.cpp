#include "aten/common/warning.h"

#include <cstdio>

namespace tenon {
namespace {

thread_local WarningHandler* current_handler = nullptr;
std::atomic<bool> warn_always{false};

WarningHandler& default_handler() {
  static WarningHandler handler;
  return handler;
}

}  // namespace

void WarningHandler::process(const Warning& warning) {
  std::fprintf(stderr, "tenon: warning: %s\n", warning.msg().c_str());
}

Warning::WarnAlways::WarnAlways(bool always) : previous_(warn_always.exchange(always)) {}
Warning::WarnAlways::~WarnAlways() { warn_always = previous_; }

namespace WarningUtils {

WarningHandler* get_warning_handler() noexcept {
  return current_handler ? current_handler : &default_handler();
}
void set_warning_handler(WarningHandler* handler) noexcept { current_handler = handler; }
void set_warnAlways(bool always) noexcept { warn_always = always; }
bool get_warnAlways() noexcept { return warn_always; }

}  // namespace WarningUtils

void warn(const Warning& warning) { WarningUtils::get_warning_handler()->process(warning); }

}  // namespace tenon
