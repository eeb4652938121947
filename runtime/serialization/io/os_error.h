#pragma once

#include <cerrno>
#include <cstring>

#include "aten/core/error.h"

namespace tenon {

/// A call of the operating system failed: no such file, no permission, no space left, ...
class TENON_API OSError : public Error {
 public:
  OSError(int code, const std::string& message) : Error(message), code_(code) {}

  /// The system's number of the reason: ENOENT, EACCES, ENOSPC, ...
  int code() const { return code_; }

 private:
  int code_;
};

namespace serialization {

/// Throws an OSError for the current errno; its text ends with the system's reason.
template <class... Parts>
[[noreturn]] TENON_COLD void raise_errno(const Parts&... parts) {
  const int code = errno;
  throw OSError(code, tenon::detail::concat(parts..., ": ", std::strerror(code)));
}

}  // namespace serialization
}  // namespace tenon
