#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/serialization/load.h"

namespace tenon::serialization {

class Globals;
class Unpickler;

/// Makes tensors from what PyTorch's _rebuild_... functions are called with. Every geometry is
/// checked against its storage.
class TensorBuilder {
 public:
  /// With `inspects`, kinds of tensor that the library has not become Objects instead of errors.
  TensorBuilder(const MapLocation& map_location, bool inspects)
      : map_location_(map_location), inspects_(inspects) {}

  /// Has `f` called with each storage of untyped bytes that becomes a tensor, and its dtype.
  void set_on_untyped(std::function<void(const Storage&, ScalarType)> f) {
    on_untyped_ = std::move(f);
  }

  /// Whether the function, "torch._utils _rebuild_tensor_v2", is one of these.
  static bool knows(const std::string& function);
  /// `globals` says of which subclasses tensors may be.
  Value call(Unpickler& machine, const Globals& globals, const std::string& function,
             const Value& args);
  /// To be called when the storages have their data: checks sparse tensors.
  void finish();

 private:
  Value tensor(Unpickler& machine, const std::string& function, const Value::Items& args);
  Value parameter(Unpickler& machine, const Value::Items& args);
  Value meta_tensor(Unpickler& machine, const Value::Items& args);
  Value device_tensor(Unpickler& machine, const Value::Items& args);
  Value from_type(Unpickler& machine, const Globals& globals, const Value::Items& args);
  Value sparse_tensor(Unpickler& machine, const Value& args);
  TensorBase with_bits(Unpickler& machine, const TensorBase& t, const Value& metadata);
  Value unsupported(Unpickler& machine, const std::string& function, const Value& args) const;

  const MapLocation& map_location_;
  bool inspects_;
  std::function<void(const Storage&, ScalarType)> on_untyped_;
  std::vector<Tensor> sparse_;  ///< to be checked when their indices have been read
};

}  // namespace tenon::serialization
