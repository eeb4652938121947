#pragma once

#include "aten/core/error.h"

namespace tenon::distributed {

/// Base of what is thrown when ranks fail to work together.
class TENON_API DistError : public Error {
 public:
  using Error::Error;
};
/// A collective failed: another rank failed, left, called something else, or came too late.
class TENON_API DistBackendError : public DistError {
 public:
  using DistError::DistError;
};
/// A store did not answer, or not in time.
class TENON_API DistStoreError : public DistError {
 public:
  using DistError::DistError;
};
/// A connection could not be made.
class TENON_API DistNetworkError : public DistError {
 public:
  using DistError::DistError;
};

namespace detail {
using tenon::detail::concat;
using tenon::detail::raise;
}  // namespace detail

}  // namespace tenon::distributed
