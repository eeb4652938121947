#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "aten/core/error.h"

namespace tenon::nn {

class Module;
template <class Contained>
class ModuleHolder;

namespace detail {
/// What a handle is copied or made from, rather than a module constructed.
template <class Contained, class T>
inline constexpr bool is_handle =
    std::is_base_of_v<ModuleHolder<Contained>, T> ||
    std::is_convertible_v<T, std::shared_ptr<Contained>> || std::is_same_v<T, std::nullptr_t>;
}  // namespace detail

/// A handle that shares ownership of a module: what `Linear` is to `LinearImpl`. Constructed from
/// the module's own constructor arguments, from a std::shared_ptr, or from nullptr, which leaves it
/// empty.
template <class Contained>
class ModuleHolder {
 public:
  using ContainedType = Contained;

  ModuleHolder() : impl_(make_default()) {}
  ModuleHolder(std::nullptr_t) {}
  template <class Head, class... Tail>
  requires(sizeof...(Tail) > 0 ||
           !detail::is_handle<Contained,
                              std::remove_cvref_t<Head>>) explicit ModuleHolder(Head&& head,
                                                                                Tail&&... tail)
      : impl_(std::make_shared<Contained>(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }

  /// Error "Accessing empty ModuleHolder" if there is no module.
  Contained* get() const {
    TENON_CHECK(impl_, "Accessing empty ModuleHolder");
    return impl_.get();
  }
  Contained* operator->() const { return get(); }
  Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    TENON_CHECK(impl_, "Accessing empty ModuleHolder");
    return impl_;
  }

  /// The module's own operator[], as `sequential[0]`.
  template <class Index>
  decltype(auto) operator[](Index&& index) const {
    return (*get())[std::forward<Index>(index)];
  }
  template <class... Args, class M = Contained>
  auto operator()(Args&&... args) const
      -> decltype(std::declval<M&>().forward(std::forward<Args>(args)...)) {
    return get()->forward(std::forward<Args>(args)...);
  }

 private:
  static std::shared_ptr<Contained> make_default() {
    if constexpr (std::is_default_constructible_v<Contained>) {
      return std::make_shared<Contained>();
    } else {
      return nullptr;
    }
  }

  std::shared_ptr<Contained> impl_;
};

template <class Contained>
std::ostream& operator<<(std::ostream& out, const ModuleHolder<Contained>& holder) {
  return out << *holder;
}

}  // namespace tenon::nn

/// TENON_MODULE(Net): the handle Net of class NetImpl.
#define TENON_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::tenon::nn::ModuleHolder<ImplType> {  \
   public:                                                   \
    using ::tenon::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                  \
  }
#define TENON_MODULE(Name) TENON_MODULE_IMPL(Name, Name##Impl)
