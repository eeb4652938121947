#pragma once

#include <exception>
#include <string>

#include "aten/core/error.h"

namespace tenon::data {

/// What a loader throws for an exception in one of its worker threads. The text has that of the
/// original, which can be thrown again: std::rethrow_exception(e.original_exception).
struct TENON_API WorkerException : public Error {
  explicit WorkerException(std::exception_ptr original);

  std::exception_ptr original_exception;
  /// The text, as what() gives it.
  std::string message;
};

}  // namespace tenon::data
