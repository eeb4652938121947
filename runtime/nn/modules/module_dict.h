#pragma once

#include "runtime/nn/cloneable.h"

namespace tenon::nn {

/// Modules by name, in the order of insertion.
///     ModuleDict dict(OrderedDict<std::string, std::shared_ptr<Module>>{{"fc", Linear(3,
///     4).ptr()}});
class TENON_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Modules = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Pairs = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
  using Iterator = Modules::Iterator;
  using ConstIterator = Modules::ConstIterator;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const Pairs& modules) { update(modules); }
  explicit ModuleDictImpl(const Modules& modules) { update(modules); }

  /// A dict of clones of the modules.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Empty: clone() copies the modules.
  void reset() override {}
  /// Prints "torch::nn::ModuleDict".
  void pretty_print(std::ostream& out) const override;

  /// The items: key() and value() of each.
  Modules items() const { return modules_; }
  std::vector<std::string> keys() const { return modules_.keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return modules_.values(); }
  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  size_t size() const noexcept { return modules_.size(); }
  bool empty() const noexcept { return modules_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return modules_.contains(key); }

  void clear();
  /// Removes a module and returns it. Error "Submodule 'x' is not defined".
  std::shared_ptr<Module> pop(const std::string& key);
  /// Adds modules. One whose name is there takes the other's place.
  void update(const Pairs& modules);
  void update(const Modules& modules);
  void update(const ModuleDictImpl& other) { update(other.modules_); }

  /// Error "Submodule 'x' is not defined".
  std::shared_ptr<Module> operator[](const std::string& key) const { return modules_[key]; }
  /// The module as an M; Error if it is none.
  template <class M>
  M& at(const std::string& key) {
    return *typed<M>(key);
  }
  template <class M>
  const M& at(const std::string& key) const {
    return *typed<M>(key);
  }

 private:
  void set(const std::string& key, std::shared_ptr<Module> module);
  template <class M>
  M* typed(const std::string& key) const {
    auto* module = modules_[key]->template as<M>();
    TENON_CHECK(module, "Unable to cast module[", key, "] to ",
                tenon::detail::type_name(typeid(M)));
    return module;
  }

  Modules modules_{"Submodule"};
};
TENON_MODULE(ModuleDict);

}  // namespace tenon::nn
