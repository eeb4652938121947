#pragma once

#include <array>
#include <string>
#include <tuple>
#include <typeinfo>

#include "aten/dispatch/kernel.h"
#include "aten/dispatch/operator_types.h"
#include "tenon/tensor.h"

/// C++ types of functions as schema::cpp_parameter_type() spells them.
namespace tenon::detail {

/// The compiler's name of a type that operators do not have.
TENON_API std::string demangled(const std::type_info& type);

/// `text()` is the spelling; `kKnown` says whether operators have the type.
template <class T>
struct CppType {
  static constexpr bool kKnown = false;
  static std::string text() { return demangled(typeid(T)); }
};

#define TENON_CPP_TYPE(T, spelling)                \
  template <>                                      \
  struct CppType<T> {                              \
    static constexpr bool kKnown = true;           \
    static std::string text() { return spelling; } \
  };
TENON_CPP_TYPE(void, "void")
TENON_CPP_TYPE(Tensor, "tenon::Tensor")
TENON_CPP_TYPE(bool, "bool")
TENON_CPP_TYPE(int64_t, "int64_t")
TENON_CPP_TYPE(double, "double")
TENON_CPP_TYPE(std::string, "::std::string")
TENON_CPP_TYPE(std::string_view, "::std::string_view")
TENON_CPP_TYPE(Scalar, "tenon::Scalar")
TENON_CPP_TYPE(ScalarType, "tenon::ScalarType")
TENON_CPP_TYPE(Layout, "tenon::Layout")
TENON_CPP_TYPE(MemoryFormat, "tenon::MemoryFormat")
TENON_CPP_TYPE(Device, "tenon::Device")
TENON_CPP_TYPE(Generator, "tenon::Generator")
TENON_CPP_TYPE(IntArrayRef, "tenon::IntArrayRef")
TENON_CPP_TYPE(OptionalIntArrayRef, "tenon::OptionalIntArrayRef")
TENON_CPP_TYPE(TensorList, "tenon::TensorList")
#undef TENON_CPP_TYPE

template <class T>
struct CppType<T&> {
  static constexpr bool kKnown = CppType<T>::kKnown;
  static std::string text() { return CppType<T>::text() + "&"; }
};
template <class T>
struct CppType<const T> {
  static constexpr bool kKnown = CppType<T>::kKnown;
  static std::string text() { return std::string("const ").append(CppType<T>::text()); }
};
template <class T>
struct CppType<std::optional<T>> {
  static constexpr bool kKnown = CppType<T>::kKnown;
  static std::string text() {
    return std::string("::std::optional<").append(CppType<T>::text()).append(">");
  }
};
template <class T>
struct CppType<std::vector<T>> {
  static constexpr bool kKnown = CppType<T>::kKnown;
  static std::string text() {
    return std::string("::std::vector<").append(CppType<T>::text()).append(">");
  }
};
template <class T>
struct CppType<ArrayRef<T>> {
  static constexpr bool kKnown = CppType<T>::kKnown;
  static std::string text() {
    return std::string("tenon::ArrayRef<").append(CppType<T>::text()).append(">");
  }
};
template <size_t N>
struct CppType<std::array<bool, N>> {
  static constexpr bool kKnown = true;
  static std::string text() { return "::std::array<bool, " + std::to_string(N) + ">"; }
};
template <class... T>
struct CppType<std::tuple<T...>> {
  static constexpr bool kKnown = (CppType<T>::kKnown && ...);
  static std::string text() {
    std::string list;
    ((list.append(list.empty() ? "" : ", ").append(CppType<T>::text())), ...);
    return std::string("::std::tuple<").append(list).append(">");
  }
};

/// How an operator passes what a function may take in another form: an owned list, a tensor by
/// value.
template <class T>
struct Passed {
  using type = T;
};
template <class T>
struct Passed<const T&> : Passed<T> {};
template <>
struct Passed<Tensor> {
  using type = const Tensor&;
};
template <>
struct Passed<Scalar> {
  using type = const Scalar&;
};
template <>
struct Passed<std::optional<Tensor>> {
  using type = const std::optional<Tensor>&;
};
template <>
struct Passed<std::optional<Scalar>> {
  using type = const std::optional<Scalar>&;
};
template <>
struct Passed<std::string> {
  using type = std::string_view;
};
template <class T>
struct Passed<std::vector<T>> {
  using type = ArrayRef<T>;
};
template <class T>
using passed_t = typename Passed<T>::type;

/// An argument in the form that the function takes.
template <class T, class U>
decltype(auto) adapt(U&& argument) {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Plain, std::remove_cvref_t<U>>) {
    return std::forward<U>(argument);
  } else if constexpr (requires { argument.vec(); }) {
    return argument.vec();
  } else {
    return Plain(argument);
  }
}

template <class Ret, class... Args>
CppSignature cpp_signature() {
  return {{CppType<Args>::text()...}, CppType<Ret>::text()};
}

}  // namespace tenon::detail
