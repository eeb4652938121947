#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"

namespace tenon::serialization {

/// A value that fixtures.py makes with PyTorch too, under the same name: data/<name>.pt holds what
/// torch.save wrote of it.
struct Case {
  std::string name;
  std::function<Value()> make;
  SaveOptions save = {};
  LoadOptions load = {};
  /// False where PyTorch writes the same in another way, which the README of data/ explains.
  bool same_bytes = true;
};

const std::vector<Case>& cases();

/// A value that goes with its scope, also where it contains itself.
class Owned {
 public:
  explicit Owned(Value value) : value_(std::move(value)) {}
  ~Owned() { dispose(value_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator const Value&() const { return value_; }

 private:
  Value value_;
};

}  // namespace tenon::serialization
