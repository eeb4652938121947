#pragma once

#include <utility>
#include <vector>

#include "runtime/nn/any_value.h"
#include "runtime/nn/module.h"

namespace tenon::nn {

namespace detail {

/// What an AnyModule does with the module that it holds.
class AnyModuleContent {
 public:
  explicit AnyModuleContent(const std::type_info& type) : type_info(type) {}
  virtual ~AnyModuleContent() = default;
  virtual AnyValue forward(std::vector<AnyValue>&& arguments) = 0;
  virtual std::shared_ptr<Module> ptr() const = 0;
  virtual std::unique_ptr<AnyModuleContent> copy() const = 0;
  virtual std::unique_ptr<AnyModuleContent> clone_module(std::optional<Device> device) const = 0;

  const std::type_info& type_info;
};

/// Parts common to all modules of class M; `Derived` has forward().
template <class M, class Derived>
class AnyModuleContentOf : public AnyModuleContent {
 public:
  explicit AnyModuleContentOf(std::shared_ptr<M> m)
      : AnyModuleContent(typeid(M)), module(std::move(m)) {}
  std::shared_ptr<Module> ptr() const override { return module; }
  std::unique_ptr<AnyModuleContent> copy() const override {
    return std::make_unique<Derived>(module);
  }
  std::unique_ptr<AnyModuleContent> clone_module(std::optional<Device> device) const override {
    return std::make_unique<Derived>(std::dynamic_pointer_cast<M>(module->clone(device)));
  }

  std::shared_ptr<M> module;
};

/// Gives every argument the default it has, and checks their number.
TENON_API void complete_arguments(const Module& module, std::vector<AnyValue>& arguments,
                                  size_t parameters);

/// A module whose forward() is neither overloaded nor a template.
template <class M, class... Parameters>
class AnyModuleHolder final : public AnyModuleContentOf<M, AnyModuleHolder<M, Parameters...>> {
 public:
  using AnyModuleContentOf<M, AnyModuleHolder>::AnyModuleContentOf;

  AnyValue forward(std::vector<AnyValue>&& arguments) override {
    complete_arguments(*this->module, arguments, sizeof...(Parameters));
    return call(arguments, std::index_sequence_for<Parameters...>());
  }

 private:
  template <size_t... I>
  AnyValue call(std::vector<AnyValue>& arguments, std::index_sequence<I...>) {
    return AnyValue(this->module->forward(
        static_cast<Passed<Parameters>>(argument<Parameters>(arguments[I], I))...));
  }

  /// An lvalue for a reference to const, otherwise what may be moved from.
  template <class P>
  using Passed = std::conditional_t<std::is_lvalue_reference_v<P>, P, std::decay_t<P>&&>;

  template <class P>
  static std::decay_t<P>& argument(AnyValue& value, size_t index) {
    using T = std::decay_t<P>;
    T* found = value.try_get<T>();
    TENON_CHECK_TYPE(found, "Expected argument #", index, " to be of type ",
                     tenon::detail::type_name(typeid(T)), ", but received value of type ",
                     tenon::detail::type_name(value.type_info()));
    return *found;
  }
};

/// A module that takes and returns values of any type, as a Sequential does.
template <class M>
class AnyForwardHolder final : public AnyModuleContentOf<M, AnyForwardHolder<M>> {
 public:
  using AnyModuleContentOf<M, AnyForwardHolder>::AnyModuleContentOf;
  AnyValue forward(std::vector<AnyValue>&& arguments) override {
    return this->module->forward_values(std::move(arguments));
  }
};

template <class M>
concept ForwardsValues = requires(M& module, std::vector<AnyValue> values) {
  { module.forward_values(std::move(values)) } -> std::same_as<AnyValue>;
};

template <class M, class Class, class Result, class... Parameters>
std::unique_ptr<AnyModuleContent> make_any_content(std::shared_ptr<M> module,
                                                   Result (Class::*)(Parameters...)) {
  static_assert(tenon::detail::check_not_lvalue_references<Parameters...>(),
                "a module in AnyModule must not take references to what it may change; use "
                "pointers");
  static_assert(!std::is_void_v<Result>, "a module in AnyModule must return a value");
  return std::make_unique<AnyModuleHolder<M, Parameters...>>(std::move(module));
}
template <class M, class Class, class Result, class... Parameters>
std::unique_ptr<AnyModuleContent> make_any_content(std::shared_ptr<M> module,
                                                   Result (Class::*)(Parameters...) const) {
  return make_any_content(std::move(module),
                          static_cast<Result (Class::*)(Parameters...)>(nullptr));
}

}  // namespace detail

/// A module of any class with a forward(), or none. Copies share the module.
///     AnyModule any(Linear(3, 4));
///     Tensor y = any.forward(x);
///     int n = any.forward<int>(x);      // of a module that returns int
class AnyModule {
 public:
  AnyModule() = default;
  /// `M` has one forward(), neither overloaded nor a template, or is a Sequential.
  template <class M>
  explicit AnyModule(std::shared_ptr<M> module) {
    static_assert(tenon::detail::is_module_v<M>, "AnyModule holds classes derived from Module");
    if constexpr (detail::ForwardsValues<M>) {
      content_ = std::make_unique<detail::AnyForwardHolder<M>>(std::move(module));
    } else {
      static_assert(tenon::detail::has_forward_v<M>,
                    "AnyModule holds modules with one forward() that is no template");
      content_ = detail::make_any_content(std::move(module), &M::forward);
    }
  }
  template <class M>
  requires tenon::detail::is_module_v<M>
  explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}

  AnyModule(AnyModule&&) = default;
  AnyModule& operator=(AnyModule&&) = default;
  AnyModule(const AnyModule& other) : content_(other.content_ ? other.content_->copy() : nullptr) {}
  AnyModule& operator=(const AnyModule& other) { return *this = AnyModule(other); }
  template <class M>
  AnyModule& operator=(std::shared_ptr<M> module) {
    return *this = AnyModule(std::move(module));
  }

  /// One with a clone of the module.
  AnyModule clone(std::optional<Device> device = std::nullopt) const {
    AnyModule result;
    if (content_) result.content_ = content_->clone_module(device);
    return result;
  }

  /// Calls the module. The types of arguments are exactly those of its forward(), without const and
  /// references: TypeError otherwise.
  template <class... Arguments>
  AnyValue any_forward(Arguments&&... arguments) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Arguments));
    (values.push_back(as_value(std::forward<Arguments>(arguments))), ...);
    return forward_values(std::move(values));
  }
  AnyValue forward_values(std::vector<AnyValue>&& arguments) {
    return content("forward").forward(std::move(arguments));
  }
  /// The same, with the result as a `Result`.
  template <class Result = Tensor, class... Arguments>
  Result forward(Arguments&&... arguments) {
    return any_forward(std::forward<Arguments>(arguments)...).template get<Result>();
  }

  /// The module as an M or in a handle such as `Linear`. Error "Attempted to cast module of type A
  /// to type B" if it is of another class.
  template <class M>
  requires tenon::detail::is_module_v<M> M& get() { return *typed<M>("get"); }
  template <class M>
  requires tenon::detail::is_module_v<M>
  const M& get() const { return *typed<M>("get"); }
  template <tenon::detail::ModuleHolderType Holder>
  Holder get() const {
    return Holder(typed<typename Holder::ContainedType>("get"));
  }
  std::shared_ptr<Module> ptr() const { return content("ptr").ptr(); }
  template <class M>
  requires tenon::detail::is_module_v<M> std::shared_ptr<M> ptr()
  const { return typed<M>("ptr"); }

  const std::type_info& type_info() const { return content("type_info").type_info; }
  bool is_empty() const noexcept { return content_ == nullptr; }

 private:
  template <class T>
  static AnyValue as_value(T&& value) {
    if constexpr (std::is_same_v<std::decay_t<T>, AnyValue>) {
      return std::forward<T>(value);
    } else {
      return AnyValue(std::forward<T>(value));
    }
  }
  detail::AnyModuleContent& content(const char* call) const {
    TENON_CHECK(content_, "Cannot call ", call, "() on an empty AnyModule");
    return *content_;
  }
  template <class M>
  std::shared_ptr<M> typed(const char* call) const {
    const detail::AnyModuleContent& held = content(call);
    TENON_CHECK(held.type_info == typeid(M), "Attempted to cast module of type ",
                tenon::detail::type_name(held.type_info), " to type ",
                tenon::detail::type_name(typeid(M)));
    return std::dynamic_pointer_cast<M>(held.ptr());
  }

  std::unique_ptr<detail::AnyModuleContent> content_;
};

/// A module with the name that a container gives it: {"conv", Conv2d(1, 2, 3)}.
class NamedAnyModule {
 public:
  NamedAnyModule(std::string name, AnyModule module)
      : name_(std::move(name)), module_(std::move(module)) {}
  template <class M>
  requires(!std::is_same_v<std::decay_t<M>, AnyModule>) NamedAnyModule(std::string name, M&& module)
      : NamedAnyModule(std::move(name), AnyModule(std::forward<M>(module))) {}
  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace tenon::nn
