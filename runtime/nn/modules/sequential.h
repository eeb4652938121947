#pragma once

#include <concepts>

#include "runtime/nn/module.h"

namespace tenon::nn {

/// Modules in a row, each given what the one before it returned; each takes and returns one tensor.
/// They are named "0", "1", ... unless pushed with a name.
///     Sequential net(Linear(784, 100), ReLU(), Linear(100, 10));
class TENON_API SequentialImpl : public Module {
 public:
  SequentialImpl() = default;
  template <class... Modules>
  requires(sizeof...(Modules) > 0) explicit SequentialImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  template <class M>
  requires std::derived_from<M, Module>
  void push_back(std::string name, std::shared_ptr<M> module) {
    register_module(std::move(name), module);
    steps_.push_back([m = std::move(module)](const Tensor& x) { return m->forward(x); });
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), holder.ptr());
  }
  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(std::to_string(size()), std::move(module));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::to_string(size()), holder.ptr());
  }

  /// Error if there is no module to call.
  Tensor forward(const Tensor& input);
  size_t size() const noexcept { return steps_.size(); }
  bool is_empty() const noexcept { return steps_.empty(); }
  /// The module at `index`; IndexError if there is none.
  std::shared_ptr<Module> ptr(size_t index) const;

 private:
  std::vector<std::function<Tensor(const Tensor&)>> steps_;
};
TENON_MODULE(Sequential);

}  // namespace tenon::nn
