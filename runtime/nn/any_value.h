#pragma once

#include <any>
#include <utility>

#include "runtime/nn/module_traits.h"
#include "tenon/tensor.h"

namespace tenon::nn {

/// A value of any type that can be copied: an argument or a result of a module whose type is known
/// only while the program runs.
class AnyValue {
 public:
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, AnyValue>) explicit AnyValue(T&& value)
      : value_(std::in_place_type<std::decay_t<T>>, std::forward<T>(value)) {}

  /// The value, or null if it has another type.
  template <class T>
  T* try_get() {
    static_assert(!std::is_reference_v<T> && !std::is_const_v<T>,
                  "AnyValue holds values without references and const");
    return std::any_cast<T>(&value_);
  }
  /// Error "Attempted to cast AnyValue to float, but its actual type is int".
  template <class T>
  T get() {
    T* value = try_get<T>();
    TENON_CHECK(value, "Attempted to cast AnyValue to ", tenon::detail::type_name(typeid(T)),
                ", but its actual type is ", tenon::detail::type_name(type_info()));
    return *value;
  }
  const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  std::any value_;
};

/// The default value of an argument of forward().
using ForwardDefault = std::pair<unsigned, AnyValue>;

}  // namespace tenon::nn

/// In a module's class, for calls through AnyModule and Sequential: which arguments of forward()
/// have defaults, and their values. `forward(int a, int b = 2)` has
///     TENON_FORWARD_DEFAULTS({1, tenon::nn::AnyValue(2)})
#define TENON_FORWARD_DEFAULTS(...)                                            \
  std::vector<::tenon::nn::ForwardDefault> forward_defaults() const override { \
    return {__VA_ARGS__};                                                      \
  }
