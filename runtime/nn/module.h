#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/nn/any_value.h"
#include "runtime/nn/module_holder.h"
#include "runtime/nn/module_traits.h"
#include "runtime/nn/ordered_dict.h"
#include "tenon/tensor.h"

namespace tenon::serialize {
class InputArchive;
class OutputArchive;
}  // namespace tenon::serialize

namespace tenon::nn {

/// Names of tensors, as in "conv1.weight", and the tensors themselves, in the order of
/// registration.
using StateDict = OrderedDict<std::string, Tensor>;

/// A part of a network: it has parameters, which are trained, buffers, which are not, and parts of
/// its own. Derive from it, or from Cloneable, register what it has and write a `forward`.
/// TENON_MODULE then makes a handle of shared ownership from `NameImpl`.
class TENON_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction =
      std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  Module() = default;
  explicit Module(std::string name) : name_(std::move(name)) {}
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  virtual ~Module() = default;

  /// The name it was given, else that of its class: "torch::nn::LinearImpl", "mine::NetImpl".
  const std::string& name() const noexcept;
  /// A copy with parameters, buffers and parts of its own, on `device` if one is given. Error
  /// unless the class derives from Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

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
  OrderedDict<std::string, std::shared_ptr<Module>>
  named_modules(const std::string& name_prefix = {}, bool include_self = true) const;

  /// Calls f for the module itself and then for each part at any depth, outer before inner. A
  /// function that takes a std::shared_ptr needs the module to be owned by one.
  void apply(const ModuleApplyFunction& f);
  void apply(const ConstModuleApplyFunction& f) const;
  void apply(const NamedModuleApplyFunction& f, const std::string& name_prefix = {});
  void apply(const ConstNamedModuleApplyFunction& f, const std::string& name_prefix = {}) const;
  void apply(const ModulePointerApplyFunction& f) const;
  void apply(const NamedModulePointerApplyFunction& f, const std::string& name_prefix = {}) const;

  /// Whether dropout drops and normalisation uses the batch's statistics.
  virtual void train(bool on = true);
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return training_; }

  /// Clears the gradients of all parameters: none from then on, or zeros if not `set_to_none`.
  virtual void zero_grad(bool set_to_none = true);
  /// Moves parameters and buffers; the tensors stay the same objects. Only floating-point and
  /// complex ones change their dtype.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);

  /// Parameters and buffers with their names, sharing memory with the module and without gradients.
  StateDict state_dict() const;
  /// Copies `state` into parameters and buffers. All is checked first, so a module is never left
  /// half loaded: Error "[load_state_dict] LeNet: missing keys: ...; unexpected keys: ...; size
  /// mismatch for ...". Without `strict` missing and unexpected keys are passed over.
  void load_state_dict(const StateDict& state, bool strict = true);

  /// Writes and reads parameters, buffers and the parts that are serializable: `save(model, path)`.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  /// Whether the module that this one is a part of saves it.
  virtual bool is_serializable() const { return true; }

  /// An undefined tensor stands for a parameter that the module does not have; a warning unless
  /// `requires_grad` is false.
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
  /// Puts another module in the place of one that is registered.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    children_[name] = module;
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, ModuleHolder<M> holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name);

  /// The module as an M, or null if it is none; for a handle such as `Linear`, as a LinearImpl.
  template <class M>
  auto* as() noexcept {
    if constexpr (tenon::detail::ModuleHolderType<M>) {
      return dynamic_cast<typename M::ContainedType*>(this);
    } else {
      return dynamic_cast<M*>(this);
    }
  }
  template <class M>
  const auto* as() const noexcept {
    return const_cast<Module*>(this)->as<std::remove_const_t<M>>();
  }

  /// Prints the name and the options: "torch::nn::Linear(in_features=2, out_features=3,
  /// bias=true)".
  virtual void pretty_print(std::ostream& out) const;
  /// Defaults of forward()'s arguments, see TENON_FORWARD_DEFAULTS.
  virtual std::vector<ForwardDefault> forward_defaults() const { return {}; }

 protected:
  OrderedDict<std::string, Tensor> parameters_{"Parameter"};

 private:
  template <class Derived>
  friend class Cloneable;
  friend TENON_API std::ostream& operator<<(std::ostream& out, const Module& module);

  /// Cloneable's: the registered tensors and parts go.
  void forget_registered();
  /// Cloneable's: values of the tensors and clones of the parts of `from`, which has as many. Error
  /// if it has more or fewer.
  void copy_registered(const Module& from, const std::optional<Device>& device);
  /// Cloneable's: takes over a clone of `other`.
  virtual void clone_(Module& other, const std::optional<Device>& device);
  void add_child(std::string name, std::shared_ptr<Module> module);
  void visit(const std::string& prefix, const ConstNamedModuleApplyFunction& f) const;
  void visit_parts(const std::string& prefix, const NamedModulePointerApplyFunction& f) const;
  OrderedDict<std::string, Tensor> named_tensors(OrderedDict<std::string, Tensor> Module::*tensors,
                                                 bool recurse) const;
  std::shared_ptr<Module> shared_self() const;
  void print(std::ostream& out, const std::string& indent) const;
  void move(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking);

  OrderedDict<std::string, Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};
  mutable std::optional<std::string> name_;
  bool training_ = true;
};

/// Prints the module and, indented, its parts.
TENON_API std::ostream& operator<<(std::ostream& out, const Module& module);

}  // namespace tenon::nn
