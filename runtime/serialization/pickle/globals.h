#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "runtime/serialization/load.h"

namespace tenon::serialization {

class TensorBuilder;
class Unpickler;

/// The functions and classes that pickles may name, known as "module name" with the modules of
/// Python 3.
class Globals {
 public:
  enum class Mode : uint8_t {
    WeightsOnly,  ///< what torch.load with weights_only allows
    PlainTypes,   ///< and types that cannot do anything
    Inspect       ///< anything: what is unknown is recorded and becomes an Object, never called
  };

  Globals(Mode mode, TensorBuilder& tensors, const LoadOptions& options = {});

  bool inspects() const { return mode_ == Mode::Inspect; }
  /// Whether add_safe_globals() or LoadOptions::allow_global has allowed the name.
  bool allows(const std::string& name) const;
  /// What a name stands for: a dtype, or a Global that call() knows. Error "Unsupported global:
  /// ..." for what is not allowed.
  Value resolve(Unpickler& machine, std::string module, const std::string& name) const;
  /// The result of name(*args), or of name.__new__(name, *args).
  Value call(Unpickler& machine, const std::string& name, const Value& args, bool by_new) const;
  /// Gives an object the state that was saved with it.
  void build(Unpickler& machine, const Value& object, const Value& state) const;

  /// All names that were resolved, and those that would not be allowed: of Inspect.
  const std::set<std::string>& named() const { return named_; }
  const std::set<std::string>& unsafe() const { return unsafe_; }

 private:
  const SafeGlobal* registered(const std::string& name) const;

  Mode mode_;
  TensorBuilder& tensors_;
  std::function<bool(const std::string&)> allow_global_;
  std::shared_ptr<const std::map<std::string, SafeGlobal>> safe_;
  mutable std::set<std::string> named_;
  mutable std::set<std::string> unsafe_;
};

}  // namespace tenon::serialization
