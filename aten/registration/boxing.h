#pragma once

#include <array>
#include <tuple>

#include "aten/dispatch/operator_types.h"
#include "aten/dispatch/registration.h"
#include "tenon/tensor.h"

/// Between the C++ types of operators and the values of boxed calls.
namespace tenon::detail {

/// The C++ type that holds a passed argument: what boxed calls make.
template <class T>
struct Owned {
  using type = std::remove_cvref_t<T>;
};
template <>
struct Owned<std::string_view> {
  using type = std::string;
};
template <class T>
struct Owned<ArrayRef<T>> {
  using type = std::vector<T>;
};
template <>
struct Owned<OptionalIntArrayRef> {
  using type = std::optional<std::vector<int64_t>>;
};
template <class T>
struct Owned<std::optional<T>> {
  using type = std::optional<typename Owned<T>::type>;
};
template <class T>
struct Owned<const std::optional<T>&> : Owned<std::optional<T>> {};
template <class T>
using owned_t = typename Owned<T>::type;

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
TENON_API const Value* boxed_arguments(const OperatorEntry& op, const Stack& stack, size_t count);

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

/// An argument that is held during a boxed call. They are bases of one structure: an operator may
/// have more arguments than std::tuple, which nests, has room for.
template <size_t I, class T>
struct BoxedArgument {
  T value;
};

template <class R, class... A, class Call, size_t... I>
void unbox_and_call(const OperatorEntry& op, Stack& stack, const Call& call,
                    std::index_sequence<I...>) {
  [[maybe_unused]] const Value* const values = boxed_arguments(op, stack, sizeof...(A));
  struct Arguments : BoxedArgument<I, owned_t<A>>... {};
  [[maybe_unused]] Arguments owned{{unbox<owned_t<A>>(values[I])}...};
  if constexpr (std::is_void_v<R>) {
    call(static_cast<BoxedArgument<I, owned_t<A>>&>(owned).value...);
    stack.resize(stack.size() - sizeof...(A));
  } else {
    R result = call(static_cast<BoxedArgument<I, owned_t<A>>&>(owned).value...);
    stack.resize(stack.size() - sizeof...(A));
    box(stack, result);
  }
}

/// Calls `call(arguments...)` with the last values of the stack, and leaves its results there in
/// their place. `A` are the types that `call` takes. Errors: an Error for a shorter stack;
/// TypeError for a value of another type.
template <class R, class... A, class Call>
void unbox_and_call(const OperatorEntry& op, Stack& stack, const Call& call) {
  unbox_and_call<R, A...>(op, stack, call, std::index_sequence_for<A...>());
}

template <class T>
struct HoldsTensors : std::is_same<std::remove_cvref_t<T>, Tensor> {};
template <>
struct HoldsTensors<TensorList> : std::true_type {};
template <>
struct HoldsTensors<const std::optional<Tensor>&> : std::true_type {};
template <>
struct HoldsTensors<ArrayRef<std::optional<Tensor>>> : std::true_type {};

template <class T>
DispatchKeySet device_keys(const T&) {
  return {};
}
inline DispatchKeySet device_keys(const Device& device) { return keys_of(device); }
inline DispatchKeySet device_keys(const std::optional<Device>& device) {
  return keys_of(device.value_or(Device(kCPU)));
}

/// The keys of a call: those of its tensors; of an operator without any, those of its devices.
template <class... Args>
DispatchKeySet keys_of_call(const std::remove_reference_t<Args>&... args) {
  DispatchKeySet keys;
  const auto add = [&]<class T>(const auto& argument) {
    if constexpr (HoldsTensors<T>::value) keys = keys | keys_of(argument);
  };
  if constexpr ((HoldsTensors<Args>::value || ...)) {
    (add.template operator()<Args>(args), ...);
  } else {
    ((keys = keys | device_keys(args)), ...);
  }
  return keys;
}

/// The boxed call of a generated operator, whose kernels have the type `Kernel`: one function for
/// all operators of a signature.
template <class Kernel>
struct BoxedCall;
template <class R, class... A>
struct BoxedCall<R (*)(DispatchKeySet, A...)> {
  static void call(const OperatorEntry& op, Stack& stack) {
    using Entry = TypedOperatorEntry<R (*)(DispatchKeySet, A...)>;
    unbox_and_call<R, A...>(op, stack, [&](A... arguments) -> R {
      const DispatchKeySet keys = keys_of_call<A...>(arguments...);
      return static_cast<const Entry&>(op).lookup(keys)(keys, std::forward<A>(arguments)...);
    });
  }
};

}  // namespace tenon::detail
