#pragma once

#include "aten/core/thread_state.h"
#include "runtime/nn/module.h"

namespace tenon::nn {

/// A module that can be cloned. `Derived` registers its parameters, buffers and parts in `reset()`,
/// which its constructor calls:
///     struct NetImpl : Cloneable<NetImpl> {
///       NetImpl() { reset(); }
///       void reset() override { fc = register_module("fc", Linear(3, 4)); }
///       Linear fc{nullptr};
///     };
template <class Derived>
class Cloneable : public virtual Module {
 public:
  using Module::Module;

  /// Makes all parameters, buffers and parts anew and registers them.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    NoGradGuard no_grad;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->parameters_.clear();
    copy->buffers_.clear();
    copy->children_.clear();
    copy->reset();
    check_count(copy->parameters_.size(), parameters_.size(), "parameters", "register_parameter");
    copy_tensors(copy->parameters_, parameters_, device);
    check_count(copy->buffers_.size(), buffers_.size(), "buffers", "register_buffer");
    copy_tensors(copy->buffers_, buffers_, device);
    check_count(copy->children_.size(), children_.size(), "child modules", "register_module");
    for (const auto& child : children_) {
      if (child.value()) copy->children_[child.key()]->clone_(*child.value(), device);
    }
    return copy;
  }

 private:
  static void check_count(size_t cloned, size_t own, const char* what, const char* function) {
    TENON_CHECK(cloned == own, "The cloned module does not have the same number of ", what,
                " as the original module after calling reset(). Are you sure you called ", function,
                "() inside reset() and not the constructor?");
  }
  static void copy_tensors(OrderedDict<std::string, Tensor>& to,
                           const OrderedDict<std::string, Tensor>& from,
                           const std::optional<Device>& device) {
    for (const auto& tensor : from) {
      if (!tensor->defined()) continue;
      const bool moves = device && tensor->device() != *device;
      to[tensor.key()].set_data(moves ? tensor->to(*device) : tensor->clone());
    }
  }

  void clone_(Module& other, const std::optional<Device>& device) final {
    const auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
    TENON_CHECK(clone, "Attempted to clone submodule, but it is of a different type than the "
                       "submodule it was to be cloned into");
    static_cast<Derived&>(*this) = std::move(*clone);
  }
};

}  // namespace tenon::nn
