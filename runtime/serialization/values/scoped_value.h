#pragma once

#include <utility>

#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// A value that is disposed of, circles included, at the end of its scope.
struct ScopedValue {
  explicit ScopedValue(Value v) : value(std::move(v)) {}
  ~ScopedValue() { dispose(value); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

  const Value value;
};

}  // namespace tenon::serialization
