#include "aten/dispatch/warning.h"

#include <cstdio>

namespace tenon {
namespace {

thread_local WarningHandler* current_handler = nullptr;
std::atomic<WarningHandler*> process_handler{nullptr};
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
  if (current_handler) return current_handler;
  WarningHandler* const of_process = process_handler;
  return of_process ? of_process : &default_handler();
}
void set_process_handler(WarningHandler* handler) noexcept { process_handler = handler; }
void set_warning_handler(WarningHandler* handler) noexcept { current_handler = handler; }
void set_warnAlways(bool always) noexcept { warn_always = always; }
bool get_warnAlways() noexcept { return warn_always; }

}  // namespace WarningUtils

void warn(const Warning& warning) { WarningUtils::get_warning_handler()->process(warning); }

void warn_of_resized_out(const TensorBase& out, IntArrayRef sizes) {
  TENON_WARN("An output with one or more elements was resized since it had shape ", out.sizes(),
             ", which does not match the required output shape ", sizes,
             ". This behavior is deprecated, and in a future release outputs will not be resized "
             "unless they have zero elements. You can explicitly reuse an out tensor t by resizing "
             "it, inplace, to zero elements with t.resize_(0).");
}

}  // namespace tenon
