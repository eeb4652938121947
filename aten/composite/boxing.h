#pragma once

#include <array>
#include <tuple>

#include "aten/core/value.h"
#include "tenon/tensor.h"

namespace tenon::detail {

/// The value of a boxed argument as T, the owned C++ type of its schema type. TypeError on a
/// mismatch.
template <class T>
struct Unbox;

template <class T>
T unbox(const Value& value) {
  return Unbox<T>::from(value);
}

#define TENON_UNBOX(T, expression)                       \
  template <>                                            \
  struct Unbox<T> {                                      \
    static T from(const Value& v) { return expression; } \
  };
TENON_UNBOX(Tensor, Tensor(v.to_tensor()))
TENON_UNBOX(bool, v.to_bool())
TENON_UNBOX(int64_t, v.to_int())
TENON_UNBOX(double, v.to_double())
TENON_UNBOX(Scalar, v.to_scalar())
TENON_UNBOX(std::string, v.to_str())
TENON_UNBOX(std::vector<int64_t>, v.to_ints())
TENON_UNBOX(std::vector<double>, v.to_doubles())
TENON_UNBOX(Device, v.to_device())
TENON_UNBOX(Generator, v.to_generator())
TENON_UNBOX(ScalarType, v.to_enum<ScalarType>())
TENON_UNBOX(Layout, v.to_enum<Layout>())
TENON_UNBOX(MemoryFormat, v.to_enum<MemoryFormat>())
#undef TENON_UNBOX

template <>
struct Unbox<std::vector<Tensor>> {
  static std::vector<Tensor> from(const Value& v) {
    const auto& list = v.to_tensors();
    return std::vector<Tensor>(list.begin(), list.end());
  }
};

template <>
struct Unbox<std::vector<std::optional<Tensor>>> {
  static std::vector<std::optional<Tensor>> from(const Value& v) {
    std::vector<std::optional<Tensor>> list;
    for (const TensorBase& t : v.to_tensors()) {
      list.push_back(t.defined() ? std::optional<Tensor>(t) : std::nullopt);
    }
    return list;
  }
};

template <size_t N>
struct Unbox<std::array<bool, N>> {
  static std::array<bool, N> from(const Value& v) {
    const auto list = v.to_bools();
    TENON_CHECK_TYPE(list.size() == N, "expected a list of ", N, " bools, got ", list.size());
    std::array<bool, N> out;
    std::copy(list.begin(), list.end(), out.begin());
    return out;
  }
};

template <class T>
struct Unbox<std::optional<T>> {
  static std::optional<T> from(const Value& v) {
    if (v.is_none()) return std::nullopt;
    return unbox<T>(v);
  }
};

/// Puts a result on the stack, a tuple one by one.
inline void box(Stack& stack, const Tensor& result) { stack.emplace_back(TensorBase(result)); }
inline void box(Stack& stack, const std::vector<Tensor>& result) {
  stack.emplace_back(Value::Tensors(result.begin(), result.end()));
}
inline void box(Stack& stack, const Scalar& result) { stack.emplace_back(result); }
inline void box(Stack& stack, bool result) { stack.emplace_back(result); }
inline void box(Stack& stack, int64_t result) { stack.emplace_back(result); }
inline void box(Stack& stack, double result) { stack.emplace_back(result); }
template <class... T>
void box(Stack& stack, const std::tuple<T...>& results) {
  std::apply([&](const auto&... one) { (box(stack, one), ...); }, results);
}

}  // namespace tenon::detail
