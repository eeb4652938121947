#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "aten/core/macros.h"

namespace tenon {

namespace nn {
class Module;
template <class Contained>
class ModuleHolder;
}  // namespace nn

namespace detail {

/// A type's name as C++ writes it: "std::vector<float>".
TENON_API std::string type_name(const std::type_info& type);

template <class T>
inline constexpr bool is_module_v = std::is_base_of_v<nn::Module, std::decay_t<T>>;
template <class T>
using is_module = std::bool_constant<is_module_v<T>>;
template <class M, class T = void>
using enable_if_module_t = std::enable_if_t<is_module_v<M>, T>;

/// A handle of a module, as `Linear` is.
template <class T>
concept ModuleHolderType = requires {
  typename std::decay_t<T>::ContainedType;
};
template <class T>
using is_module_holder = std::bool_constant<ModuleHolderType<T>>;

/// Whether M has one `forward`, not overloaded and no template.
template <class M>
inline constexpr bool has_forward_v = requires {
  &M::forward;
};
template <class M>
using has_forward = std::bool_constant<has_forward_v<M>>;

/// Whether none of the types is a reference through which a caller's object could change.
template <class... Ts>
constexpr bool check_not_lvalue_references() {
  return ((!std::is_lvalue_reference_v<Ts> || std::is_const_v<std::remove_reference_t<Ts>>)&&...);
}

/// What M::forward returns for these arguments, void if it does not take them.
template <class M, class... Args>
struct return_type_of_forward {
  using type = void;
};
template <class M, class... Args>
requires requires(M& module, Args&&... args) { module.forward(std::forward<Args>(args)...); }
struct return_type_of_forward<M, Args...> {
  using type = decltype(std::declval<M&>().forward(std::declval<Args>()...));
};
template <class M, class... Args>
using return_type_of_forward_t = typename return_type_of_forward<M, Args...>::type;

}  // namespace detail
}  // namespace tenon
