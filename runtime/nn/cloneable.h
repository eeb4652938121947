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
    copy->forget_registered();
    copy->reset();
    copy->copy_registered(*this, device);
    return copy;
  }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    const auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
    TENON_CHECK(clone, "Attempted to clone submodule, but it is of a different type than the "
                       "submodule it was to be cloned into");
    static_cast<Derived&>(*this) = std::move(*clone);
  }
};

}  // namespace tenon::nn
