#pragma once

#include <initializer_list>

#include "runtime/nn/any_module.h"
#include "runtime/nn/cloneable.h"

namespace tenon::nn {

/// Modules in a row, each given what the one before it returned. The first may take any number of
/// arguments of any types, the others one. They are named "0", "1", ... unless a name is given.
///     Sequential net(Linear(784, 100), ReLU(), Linear(100, 10));
///     Sequential named({{"fc", Linear(784, 10)}, {"relu", ReLU()}});
class TENON_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <class... Modules>
  requires(sizeof...(Modules) > 1 ||
           (sizeof...(Modules) == 1 && !(std::is_base_of_v<SequentialImpl, std::decay_t<Modules>> ||
                                         ...))) explicit SequentialImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& ordered_dict);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> named_modules);

  /// A container of clones of the modules.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Empty: clone() copies the modules.
  void reset() override {}
  /// Prints "torch::nn::Sequential".
  void pretty_print(std::ostream& out) const override;

  /// Error if there is no module to call, or if the last one returns no `Result`.
  template <class Result = Tensor, class... Inputs>
  Result forward(Inputs&&... inputs) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Inputs));
    (values.emplace_back(std::forward<Inputs>(inputs)), ...);
    AnyValue result = forward_values(std::move(values));
    Result* typed = result.template try_get<Result>();
    TENON_CHECK(typed, "The type of the return value is ",
                tenon::detail::type_name(result.type_info()), ", but you asked for type ",
                tenon::detail::type_name(typeid(Result)));
    return std::move(*typed);
  }
  AnyValue forward_values(std::vector<AnyValue>&& inputs);

  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(std::to_string(size()), std::move(module));
  }
  template <class M>
  void push_back(std::string name, std::shared_ptr<M> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <class M>
  requires tenon::detail::is_module_v<M>
  void push_back(M&& module) { push_back(std::to_string(size()), std::forward<M>(module)); }
  template <class M>
  requires tenon::detail::is_module_v<M>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), AnyModule(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::to_string(size()), holder);
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), AnyModule(holder));
  }
  void push_back(AnyModule module) { push_back(std::to_string(size()), std::move(module)); }
  void push_back(std::string name, AnyModule module);
  /// Appends the modules of another container, shared with it.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }

  /// The module at `index` as an M; IndexError "Index out of range" if there is none.
  template <class M>
  M& at(size_t index) {
    return *ptr<M>(index);
  }
  template <class M>
  const M& at(size_t index) const {
    return *ptr<M>(index);
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  template <class M>
  std::shared_ptr<M> ptr(size_t index) const {
    check_index(index);
    if constexpr (tenon::detail::ModuleHolderType<M>) {
      return modules_[index].template ptr<typename M::ContainedType>();
    } else {
      return modules_[index].template ptr<M>();
    }
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void check_index(size_t index) const;

  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = SequentialImpl;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> named_modules)
      : ModuleHolder(std::make_shared<SequentialImpl>(named_modules)) {}
};

}  // namespace tenon::nn
