#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/nn/module_holder.h"
#include "runtime/nn/ordered_dict.h"
#include "tenon/tensor.h"

namespace tenon::nn {

/// Names of tensors, as in "conv1.weight", and the tensors themselves, in the order of
/// registration.
using StateDict = OrderedDict<std::string, Tensor>;

/// A part of a network: it has parameters, which are trained, buffers, which are not, and parts of
/// its own. Derive from it, register what it has in the constructor and write a `forward`.
/// TENON_MODULE then makes a handle of shared ownership from `NameImpl`.
class TENON_API Module : public std::enable_shared_from_this<Module> {
 public:
  Module() = default;
  explicit Module(std::string name) : name_(std::move(name)) {}
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  virtual ~Module() = default;

  /// The name it was given, else that of its class.
  const std::string& name() const;

  /// Parameters and, with `recurse`, those of all parts, a tensor that occurs twice only once.
  /// Names of parts' tensors have the path before them: "conv1.weight".
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;

  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;
  /// All parts at any depth, outer before inner; the module itself first if `include_self`, which
  /// needs it to be owned by a std::shared_ptr or a holder.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& prefix = {},
                                                                  bool include_self = true) const;
  /// Calls f for each part at any depth, inner before outer, and for the module itself last.
  void apply(const std::function<void(Module&)>& f);

  /// Whether dropout drops and normalisation uses the batch's statistics.
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const noexcept { return training_; }

  /// Clears the gradients of all parameters: none from then on, or zeros if not `set_to_none`.
  void zero_grad(bool set_to_none = true);
  /// Moves parameters and buffers; the tensors stay the same objects. Only floating-point ones
  /// change their dtype.
  void to(Device device, ScalarType dtype);
  void to(ScalarType dtype);
  void to(Device device);

  /// Parameters and buffers with their names, sharing memory with the module and without gradients.
  StateDict state_dict() const;
  /// Copies `state` into parameters and buffers. All is checked first, so a module is never left
  /// half loaded: Error "[load_state_dict] LeNet: missing keys: ...; unexpected keys: ...; size
  /// mismatch for ...". Without `strict` missing and unexpected keys are passed over.
  void load_state_dict(const StateDict& state, bool strict = true);

  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  template <class M>
  M* as() noexcept {
    return dynamic_cast<M*>(this);
  }
  template <class M>
  const M* as() const noexcept {
    return dynamic_cast<const M*>(this);
  }

  /// Prints the name and the options: "Linear(in_features=2, out_features=3, bias=true)".
  virtual void pretty_print(std::ostream& out) const;

 private:
  void add_child(std::string name, std::shared_ptr<Module> module);
  void visit(const std::string& prefix,
             const std::function<void(const std::string&, const Module&)>& f) const;
  void print(std::ostream& out, const std::string& indent) const;
  void move(std::optional<Device> device, std::optional<ScalarType> dtype);
  friend TENON_API std::ostream& operator<<(std::ostream& out, const Module& module);

  OrderedDict<std::string, Tensor> parameters_{"Parameter"};
  OrderedDict<std::string, Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};
  mutable std::optional<std::string> name_;
  bool training_ = true;
};

/// Prints the module and, indented, its parts.
TENON_API std::ostream& operator<<(std::ostream& out, const Module& module);

}  // namespace tenon::nn
