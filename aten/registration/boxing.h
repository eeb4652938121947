#pragma once

#include <array>
#include <tuple>

#include "aten/dispatch/operator_types.h"
#include "aten/dispatch/registration.h"
#include "tenon/tensor.h"

/// Between the C++ types of operators and the values of boxed calls.
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
TENON_UNBOX(std::vector<Scalar>, v.to_scalars())
TENON_UNBOX(Device, v.to_device())
TENON_UNBOX(Generator, v.to_generator())
TENON_UNBOX(ScalarType, v.to_enum<ScalarType>())
TENON_UNBOX(Layout, v.to_enum<Layout>())
TENON_UNBOX(MemoryFormat, v.to_enum<MemoryFormat>())
#undef TENON_UNBOX

template <>
struct Unbox<std::vector<Tensor>> {
  TENON_API static std::vector<Tensor> from(const Value& v);
};

template <>
struct Unbox<std::vector<std::optional<Tensor>>> {
  TENON_API static std::vector<std::optional<Tensor>> from(const Value& v);
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

/// Puts an argument or a result on the stack, a tuple one by one.
TENON_API void box(Stack& stack, const Tensor& v);
TENON_API void box(Stack& stack, TensorList v);
TENON_API void box(Stack& stack, const std::vector<Tensor>& v);
TENON_API void box(Stack& stack, ArrayRef<std::optional<Tensor>> v);
TENON_API void box(Stack& stack, const Scalar& v);
TENON_API void box(Stack& stack, bool v);
TENON_API void box(Stack& stack, int64_t v);
TENON_API void box(Stack& stack, double v);
TENON_API void box(Stack& stack, std::string_view v);
TENON_API void box(Stack& stack, const std::string& v);
TENON_API void box(Stack& stack, Device v);
TENON_API void box(Stack& stack, ScalarType v);
TENON_API void box(Stack& stack, Layout v);
TENON_API void box(Stack& stack, MemoryFormat v);
TENON_API void box(Stack& stack, const Generator& v);
TENON_API void box(Stack& stack, IntArrayRef v);
TENON_API void box(Stack& stack, const OptionalIntArrayRef& v);
TENON_API void box(Stack& stack, ArrayRef<double> v);
TENON_API void box(Stack& stack, ArrayRef<Scalar> v);
TENON_API void box(Stack& stack, const std::vector<int64_t>& v);
TENON_API void box(Stack& stack, const std::vector<double>& v);
TENON_API void box(Stack& stack, const std::vector<Scalar>& v);
TENON_API void box_none(Stack& stack);
template <size_t N>
void box(Stack& stack, const std::array<bool, N>& v) {
  stack.emplace_back(Value::Bools(v.begin(), v.end()));
}
template <class T>
void box(Stack& stack, const std::optional<T>& v) {
  v ? box(stack, *v) : box_none(stack);
}
template <class... T>
void box(Stack& stack, const std::tuple<T...>& results) {
  std::apply([&](const auto&... one) { (box(stack, one), ...); }, results);
}

/// The arguments that an operator writes, in order.
class Written {
 public:
  template <class T>
  void add(T&&) {}
  void add(Tensor& t) { list_[count_++] = &t; }
  Tensor& next() { return *list_[next_++]; }

 private:
  Tensor* list_[8] = {};
  size_t count_ = 0, next_ = 0;
};

/// Result `value` as T; a reference is to the argument that was written.
template <class T>
T take_result(const Value& value, Written& written) {
  if constexpr (std::is_same_v<T, Tensor&>) {
    return written.next();
  } else {
    return unbox<T>(value);
  }
}

template <class T>
struct Results {
  static constexpr size_t kCount = 1;
  static T take(const Value* values, Written& written) {
    return take_result<T>(values[0], written);
  }
};
template <>
struct Results<void> {
  static constexpr size_t kCount = 0;
  static void take(const Value*, Written&) {}
};
template <class... T>
struct Results<std::tuple<T...>> {
  static constexpr size_t kCount = sizeof...(T);
  static std::tuple<T...> take(const Value* values, Written& written) {
    return take(values, written, std::index_sequence_for<T...>());
  }
  template <size_t... I>
  static std::tuple<T...> take(const Value* values, Written& written, std::index_sequence<I...>) {
    return std::tuple<T...>{take_result<T>(values[I], written)...};  // braces: in order
  }
};

/// The first of an operator's `count` arguments, the last values of a boxed call's stack. Error
/// where there are fewer.
TENON_API const Value* boxed_arguments(const Stack& stack, const char* op, size_t count);
/// Takes them off the stack.
TENON_API void drop_arguments(Stack& stack, size_t count);

TENON_API void check_result_count(const OperatorEntry& op, size_t expected, const Stack& stack);

/// A typed call that ends in a boxed kernel.
template <class Ret, class... Args>
TENON_NOINLINE Ret call_boxed_kernel(const OperatorEntry& op, DispatchKeySet keys, Args... args) {
  Stack stack;
  stack.reserve(sizeof...(Args));
  (box(stack, args), ...);
  run_boxed_kernel(op, keys, stack);
  check_result_count(op, Results<Ret>::kCount, stack);
  Written written;
  (written.add(args), ...);
  return Results<Ret>::take(stack.data(), written);
}

}  // namespace tenon::detail
