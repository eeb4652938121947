#pragma once

#include <iterator>

#include "runtime/nn/any_module.h"
#include "runtime/nn/cloneable.h"

namespace tenon::nn {

/// Modules by number. They need no forward(); the module that owns the list calls them.
///     ModuleList list(Linear(3, 4), ReLU());
///     for (const auto& module : *list) ...
class TENON_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  template <class... Modules>
  requires(sizeof...(Modules) > 1 ||
           (sizeof...(Modules) == 1 && !(std::is_base_of_v<ModuleListImpl, std::decay_t<Modules>> ||
                                         ...))) explicit ModuleListImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  /// A list of clones of the modules.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Empty: clone() copies the modules.
  void reset() override {}
  /// Prints "torch::nn::ModuleList".
  void pretty_print(std::ostream& out) const override;

  void push_back(std::shared_ptr<Module> module);
  template <class M>
  requires tenon::detail::is_module_v<M>
  void push_back(M&& module) {
    push_back(std::static_pointer_cast<Module>(
        std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::static_pointer_cast<Module>(holder.ptr()));
  }
  /// Appends the modules of another container, shared with it.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  /// The modules from `index` on move up by one. IndexError "Index out of range".
  void insert(size_t index, std::shared_ptr<Module> module);
  template <class M>
  requires tenon::detail::is_module_v<M>
  void insert(size_t index, M&& module) {
    insert(index, std::static_pointer_cast<Module>(
                      std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
  }
  template <class M>
  void insert(size_t index, const ModuleHolder<M>& holder) {
    insert(index, std::static_pointer_cast<Module>(holder.ptr()));
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }

  /// The module at `index` as an M; IndexError "Index out of range", Error if it is no M.
  template <class M>
  M& at(size_t index) {
    return *typed<M>(index);
  }
  template <class M>
  const M& at(size_t index) const {
    return *typed<M>(index);
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  template <class M>
  std::shared_ptr<M> ptr(size_t index) const {
    return std::dynamic_pointer_cast<M>(ptr(index));
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  template <class M>
  M* typed(size_t index) const {
    auto* module = ptr(index)->template as<M>();
    TENON_CHECK(module, "Unable to cast module[", index, "] to ",
                tenon::detail::type_name(typeid(M)));
    return module;
  }

  std::vector<std::shared_ptr<Module>> modules_;
};
TENON_MODULE(ModuleList);

}  // namespace tenon::nn
