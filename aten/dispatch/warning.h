#pragma once

#include <atomic>
#include <source_location>
#include <string>

#include "aten/core/error.h"
#include "aten/core/tensor_base.h"

namespace tenon {

/// A message that is not an error: its text and the place that gave it.
class Warning {
 public:
  Warning(std::source_location place, std::string message)
      : place_(place), message_(std::move(message)) {}
  const std::source_location& source_location() const { return place_; }
  const std::string& msg() const { return message_; }

  /// TENON_WARN_ONCE warns each time, or does not, until the end of the scope. For tests.
  class TENON_API WarnAlways {
   public:
    explicit WarnAlways(bool always = true);
    ~WarnAlways();
    WarnAlways(const WarnAlways&) = delete;
    WarnAlways& operator=(const WarnAlways&) = delete;

   private:
    bool previous_;
  };

 private:
  std::source_location place_;
  std::string message_;
};

/// Receives warnings. Unless derived, it prints "tenon: warning: ..." on the standard error stream.
class TENON_API WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning);
};

namespace WarningUtils {
/// Of this thread.
TENON_API WarningHandler* get_warning_handler() noexcept;
/// Warnings of this thread go to `handler`, which must outlive its use; nullptr: to the default.
TENON_API void set_warning_handler(WarningHandler* handler) noexcept;
/// Warnings of threads without a handler go to `handler`, which must outlive its use; nullptr: to
/// the default, which prints.
TENON_API void set_process_handler(WarningHandler* handler) noexcept;
/// If true, TENON_WARN_ONCE warns each time it is reached. For tests; off at first.
TENON_API void set_warnAlways(bool always) noexcept;
TENON_API bool get_warnAlways() noexcept;

/// Sends warnings to `handler` until the end of the scope.
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : previous_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  ~WarningHandlerGuard() { set_warning_handler(previous_); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* previous_;
};
}  // namespace WarningUtils

/// Hands the warning to this thread's handler.
TENON_API void warn(const Warning& warning);

/// Says that `out`, which has elements, does not have the result's sizes and is resized.
TENON_API void warn_of_resized_out(const TensorBase& out, IntArrayRef sizes);

/// TENON_WARN(parts of the message...)
#define TENON_WARN(...) \
  ::tenon::warn(        \
      ::tenon::Warning(std::source_location::current(), ::tenon::detail::concat(__VA_ARGS__)))
/// The same, the first time that this line is reached in the process.
#define TENON_WARN_ONCE(...)                                                     \
  do {                                                                           \
    static std::atomic<bool> tenon_warned{false};                                \
    if (!tenon_warned.exchange(true) || ::tenon::WarningUtils::get_warnAlways()) \
      TENON_WARN(__VA_ARGS__);                                                   \
  } while (false)

}  // namespace tenon
