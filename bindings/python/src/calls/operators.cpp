#include "bindings/python/src/calls/operators.h"

#include "aten/core/thread_state.h"
#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/dispatch.h"
#include "bindings/python/src/calls/overrides.h"
#include "bindings/python/src/calls/results.h"
#include "bindings/python/src/creation.h"
#include "bindings/python/src/numpy_objects.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/any.h"
#include "tenon/ops/bitwise_and.h"
#include "tenon/ops/bitwise_left_shift.h"
#include "tenon/ops/bitwise_not.h"
#include "tenon/ops/bitwise_or.h"
#include "tenon/ops/bitwise_right_shift.h"
#include "tenon/ops/bitwise_xor.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/floor_divide.h"
#include "tenon/ops/is_nonzero.h"
#include "tenon/ops/item.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/pow.h"
#include "tenon/ops/reciprocal.h"
#include "tenon/ops/remainder.h"
#include "tenon/ops/scalar_tensor.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/unbind.h"

namespace tenon::python {
namespace {

bool is_large(const Tensor& a) { return a.numel() >= kElementsToUnlock; }

/// The result of f(), which computes with tensors of which one is large or none.
template <class F>
PyObject* result_of(bool large, F&& f) {
  if (!large) return wrap(f());
  return wrap([&] {
    const Unlocked unlocked(true);
    return f();
  }());
}

/// The methods of Tensor that an operator is to those who override it.
struct Names {
  const char* name;
  const char* reflected;  ///< called with the operands exchanged
};

/// What __torch_function__ makes of a op b.
PyObject* override_binary(PyObject* a, PyObject* b, const Names& names) {
  return is_tensor(a) ? call_override(names.name, {a, b}, true)
                      : call_override(names.reflected, {b, a}, true);
}

template <class F>
PyObject* binary_of_tensors(PyObject* a, PyObject* b, const Names& names, F f);

/// a op b, where at least one is a tensor. F takes (tensor, tensor), (tensor, number) and
/// (number, tensor).
template <class F>
PyObject* binary(PyObject* a, PyObject* b, const Names& names, F f) noexcept {
  return guarded([&]() -> PyObject* {
    try {
      return binary_of_tensors(a, b, names, f);
    } catch (const nb::python_error& error) {
      // No class takes the call: Python asks the other operand, or says so itself.
      if (!error.matches(not_dispatched_error())) throw;
    } catch (const ErrorIsSet&) {
      if (!PyErr_ExceptionMatches(not_dispatched_error())) throw;
      PyErr_Clear();
    }
    Py_RETURN_NOTIMPLEMENTED;
  });
}

template <class F>
PyObject* binary_of_tensors(PyObject* a, PyObject* b, const Names& names, F f) {
  if (has_override(a) || has_override(b)) return override_binary(a, b, names);
  if (is_tensor(a)) {
    const Tensor& left = tensor_of(a);
    if (is_tensor(b)) {
      const Tensor& right = tensor_of(b);
      return result_of(is_large(left) || is_large(right), [&] { return f(left, right); });
    }
    if (is_number(b)) {
      const Scalar right = Arguments::read_scalar(b);
      return result_of(is_large(left), [&] { return f(left, right); });
    }
  } else if (is_number(a)) {
    const Tensor& right = tensor_of(b);
    const Scalar left = Arguments::read_scalar(a);
    return result_of(is_large(right), [&] { return f(left, right); });
  }
  Py_RETURN_NOTIMPLEMENTED;
}

/// self op= other
template <class F>
PyObject* in_place(PyObject* a, PyObject* b, const char* name, F f) noexcept {
  return guarded([&]() -> PyObject* {
    if (has_override(a) || has_override(b)) return call_override(name, {a, b}, true);
    Tensor& self = tensor_of(a);
    if (is_tensor(b)) {
      const Unlocked unlocked(is_large(self));
      f(self, tensor_of(b));
    } else if (is_number(b)) {
      const Scalar number = Arguments::read_scalar(b);
      const Unlocked unlocked(is_large(self));
      f(self, number);
    } else {
      Py_RETURN_NOTIMPLEMENTED;
    }
    return Py_NewRef(a);
  });
}

template <class F>
PyObject* unary(PyObject* a, const char* name, F f) noexcept {
  return guarded([&]() -> PyObject* {
    if (has_override(a)) return call_override(name, {a});
    const Tensor& self = tensor_of(a);
    return result_of(is_large(self), [&] { return f(self); });
  });
}

#define TENON_BINARY(name, symbol, method, reflected)                               \
  PyObject* nb_##name(PyObject* a, PyObject* b) {                                   \
    return binary(a, b, {method, reflected},                                        \
                  [](const auto& x, const auto& y) { return Tensor(x symbol y); }); \
  }
TENON_BINARY(remainder, %, "remainder", "__rmod__")
TENON_BINARY(and, &, "__and__", "bitwise_and")
TENON_BINARY(or, |, "__or__", "bitwise_or")
TENON_BINARY(xor, ^, "__xor__", "bitwise_xor")
#undef TENON_BINARY

/// Whether the operation is recorded: then, as in PyTorch, a number counts as a tensor, so that
/// graphs have the same nodes.
bool is_recorded(const Tensor& t) { return t.requires_grad() && GradMode::is_enabled(); }

/// What a recorded operation with a number computes as one with tensors.
template <class F>
struct WithNumbers : F {
  using F::operator();
  Tensor operator()(const Tensor& a, const Scalar& b) const {
    return is_recorded(a) ? F::operator()(a, number_tensor(b)) : F::operator()(a, b);
  }
  Tensor operator()(const Scalar& a, const Tensor& b) const {
    return is_recorded(b) ? F::operator()(number_tensor(a), b) : F::operator()(a, b);
  }
};

/// A number on the left is the second operand: the factor, of a product.
template <class F>
struct Commuting : F {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return F::operator()(a, b); }
  Tensor operator()(const Tensor& a, const Scalar& b) const { return F::operator()(a, b); }
  Tensor operator()(const Scalar& a, const Tensor& b) const { return F::operator()(b, a); }
};

// The commonest two without the detour over C++'s operators.
struct Add {
  Tensor operator()(const Tensor& a, const Tensor& b) const {
    return ops::add_Tensor::call(a, b, 1);
  }
  Tensor operator()(const Tensor& a, const Scalar& b) const {
    return ops::add_Scalar::call(a, b, 1);
  }
};
PyObject* nb_add(PyObject* a, PyObject* b) {
  return binary(a, b, {"add", "add"}, Commuting<WithNumbers<Add>>());
}
struct Multiply {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return ops::mul_Tensor::call(a, b); }
  Tensor operator()(const Tensor& a, const Scalar& b) const { return ops::mul_Scalar::call(a, b); }
};
PyObject* nb_mul(PyObject* a, PyObject* b) {
  return binary(a, b, {"mul", "mul"}, Commuting<WithNumbers<Multiply>>());
}

struct Subtract {
  template <class A, class B>
  Tensor operator()(const A& a, const B& b) const {
    return a - b;
  }
};
PyObject* nb_sub(PyObject* a, PyObject* b) {
  return binary(a, b, {"sub", "__rsub__"}, WithNumbers<Subtract>());
}
struct Divide {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return a / b; }
  Tensor operator()(const Tensor& a, const Scalar& b) const { return a / b; }
  // The reciprocal, as in PyTorch.
  Tensor operator()(const Scalar& a, const Tensor& b) const {
    return WithNumbers<Multiply>()(reciprocal(b), a);
  }
};
PyObject* nb_div(PyObject* a, PyObject* b) {
  return binary(a, b, {"div", "__rtruediv__"}, [](const auto& x, const auto& y) {
    if constexpr (std::is_same_v<std::decay_t<decltype(y)>, Scalar>) {
      return is_recorded(x) ? Divide()(x, number_tensor(y)) : Divide()(x, y);
    } else {
      return Divide()(x, y);
    }
  });
}

struct FloorDivide {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return floor_divide(a, b); }
  Tensor operator()(const Tensor& a, const Scalar& b) const { return floor_divide(a, b); }
  Tensor operator()(const Scalar& a, const Tensor& b) const {
    return floor_divide(number_tensor(a), b);
  }
};
PyObject* nb_floor_divide(PyObject* a, PyObject* b) {
  return binary(a, b, {"__floordiv__", "__rfloordiv__"}, FloorDivide());
}

struct LeftShift {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return bitwise_left_shift(a, b); }
  Tensor operator()(const Tensor& a, const Scalar& b) const { return bitwise_left_shift(a, b); }
  Tensor operator()(const Scalar& a, const Tensor& b) const {
    return bitwise_left_shift(number_tensor(a), b);
  }
};
PyObject* nb_lshift(PyObject* a, PyObject* b) {
  return binary(a, b, {"__lshift__", "__rlshift__"}, LeftShift());
}
struct RightShift {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return bitwise_right_shift(a, b); }
  Tensor operator()(const Tensor& a, const Scalar& b) const { return bitwise_right_shift(a, b); }
  Tensor operator()(const Scalar& a, const Tensor& b) const {
    return bitwise_right_shift(number_tensor(a), b);
  }
};
PyObject* nb_rshift(PyObject* a, PyObject* b) {
  return binary(a, b, {"__rshift__", "__rrshift__"}, RightShift());
}

PyObject* nb_power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(a, b, {"pow", "__rpow__"}, [](const auto& x, const auto& y) { return pow(x, y); });
}

PyObject* nb_matmul(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (has_override(a) || has_override(b)) {
      return override_binary(a, b, {"matmul", "__rmatmul__"});
    }
    if (!is_tensor(a) || !is_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    const Tensor& x = tensor_of(a);
    const Tensor& y = tensor_of(b);
    return result_of(is_large(x) || is_large(y), [&] { return ops::matmul::call(x, y); });
  });
}

#define TENON_IN_PLACE(name, function)                                              \
  PyObject* nb_inplace_##name(PyObject* a, PyObject* b) {                           \
    return in_place(a, b, #function,                                                \
                    [](Tensor& self, const auto& other) { self.function(other); }); \
  }
TENON_IN_PLACE(add, add_)
TENON_IN_PLACE(sub, sub_)
TENON_IN_PLACE(mul, mul_)
TENON_IN_PLACE(div, div_)
TENON_IN_PLACE(floor_divide, floor_divide_)
TENON_IN_PLACE(remainder, remainder_)
TENON_IN_PLACE(and, bitwise_and_)
TENON_IN_PLACE(or, bitwise_or_)
TENON_IN_PLACE(xor, bitwise_xor_)
TENON_IN_PLACE(lshift, bitwise_left_shift_)
TENON_IN_PLACE(rshift, bitwise_right_shift_)
#undef TENON_IN_PLACE
PyObject* nb_inplace_power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return in_place(a, b, "pow_", [](Tensor& self, const auto& other) { self.pow_(other); });
}

PyObject* nb_negative(PyObject* a) {
  return unary(a, "neg", [](const Tensor& x) { return neg(x); });
}
PyObject* nb_positive(PyObject* a) {
  return guarded([&] { return has_override(a) ? call_override("__pos__", {a}) : Py_NewRef(a); });
}
PyObject* nb_absolute(PyObject* a) {
  return unary(a, "abs", [](const Tensor& x) { return abs(x); });
}
PyObject* nb_invert(PyObject* a) {
  return unary(a, "__invert__", [](const Tensor& x) {
    TENON_CHECK_TYPE(is_integral(x.scalar_type(), true),
                     "~ (operator.invert) is only implemented on integer and Boolean-type tensors, "
                     "got ",
                     x.scalar_type());
    return bitwise_not(x);
  });
}

/// The number of int() and float(), `type` in the message. A complex one has no imaginary part.
Scalar only_element(PyObject* self, const char* type) {
  const Tensor& t = tensor_of(self);
  TENON_CHECK_VALUE(t.numel() == 1,
                    "only one element tensors can be converted to Python scalars, got sizes ",
                    t.sizes());
  const Scalar value = t.item();
  if (!t.is_complex()) return value;
  const auto parts = value.to<std::complex<double>>();
  TENON_CHECK(parts.imag() == 0, "value cannot be converted to type ", type,
              " without overflow, got ", value);
  return parts.real();
}

int nb_bool(PyObject* self) {
  return guarded(
      [&]() -> int {
        if (has_override(self)) {
          const Object result = Object::adopt(call_override("__bool__", {self}));
          return PyObject_IsTrue(result.get());
        }
        return is_nonzero(tensor_of(self));
      },
      -1);
}
PyObject* nb_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (has_override(self)) return call_override("__int__", {self});
    const Object number = Object::adopt(wrap(only_element(self, "int64_t")));
    return PyNumber_Long(number.get());
  });
}
PyObject* nb_float(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (has_override(self)) return call_override("__float__", {self});
    const Object number = Object::adopt(wrap(only_element(self, "double")));
    return PyNumber_Float(number.get());
  });
}
PyObject* nb_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (has_override(self)) return call_override("__index__", {self});
    const Tensor& t = tensor_of(self);
    TENON_CHECK_TYPE(is_integral(t.scalar_type(), true) && t.numel() == 1,
                     "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(t.item().toLong());
  });
}

/// A numpy array as a tensor; none for arrays of what no dtype is for.
std::optional<Tensor> tensor_of_array(PyObject* array) {
  const Object copy = Object::adopt(PyObject_CallMethod(array, "copy", nullptr));
  try {
    return from_buffer(copy.get());
  } catch (const TypeError&) {
    return std::nullopt;
  } catch (const ErrorIsSet&) {
    PyErr_Clear();
    return std::nullopt;
  }
}

PyObject* compare_with_array(PyObject* a, PyObject* array, int operation) {
  return guarded([&]() -> PyObject* {
    const std::optional<Tensor> other = tensor_of_array(array);
    if (!other) Py_RETURN_NOTIMPLEMENTED;
    const Object b = Object::adopt(wrap(*other));
    return PyObject_RichCompare(a, b.get(), operation);
  });
}

PyObject* compare(PyObject* a, PyObject* b, int operation) {
  if ((operation == Py_EQ || operation == Py_NE) && !is_tensor(b) && PyObject_CheckBuffer(b) &&
      is_numpy(b, "ndarray")) {
    return compare_with_array(a, b, operation);
  }
  static constexpr const char* kNames[] = {"lt", "le", "__eq__", "ne", "gt", "ge"};
  const Names names{kNames[operation], kNames[operation]};
  switch (operation) {
  case Py_LT: return binary(a, b, names, [](const auto& x, const auto& y) { return x < y; });
  case Py_LE: return binary(a, b, names, [](const auto& x, const auto& y) { return x <= y; });
  case Py_GT: return binary(a, b, names, [](const auto& x, const auto& y) { return x > y; });
  case Py_GE: return binary(a, b, names, [](const auto& x, const auto& y) { return x >= y; });
  case Py_NE: return binary(a, b, names, [](const auto& x, const auto& y) { return x != y; });
  default: return binary(a, b, names, [](const auto& x, const auto& y) { return x == y; });
  }
}

Py_hash_t hash(PyObject* self) { return _Py_HashPointer(self); }

PyObject* iterate(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (has_override(self)) {
      const Object rows = Object::adopt(call_override("unbind", {self}));
      return PyObject_GetIter(rows.get());
    }
    const Tensor& t = tensor_of(self);
    TENON_CHECK_TYPE(t.dim() > 0, "iteration over a 0-d tensor");
    const Object rows = Object::adopt(wrap(unbind(t, 0)));
    return PyObject_GetIter(rows.get());
  });
}

int contains(PyObject* self, PyObject* value) {
  return guarded(
      [&]() -> int {
        if (has_override(self) || has_override(value)) {
          const Object result = Object::adopt(call_override("__contains__", {self, value}));
          return PyObject_IsTrue(result.get());
        }
        if (is_tensor(value)) return any(tensor_of(self) == tensor_of(value)).item().toBool();
        if (!is_number(value)) {
          const Object type =
              Object::adopt(PyObject_Str(reinterpret_cast<PyObject*>(Py_TYPE(value))));
          const char* text = type.get() ? PyUnicode_AsUTF8(type.get()) : nullptr;
          TENON_CHECK(false,
                      "Tensor.__contains__ only supports Tensor or scalar, but you passed in a ",
                      text ? text : Py_TYPE(value)->tp_name, ".");
        }
        return any(tensor_of(self) == Arguments::read_scalar(value)).item().toBool();
      },
      -1);
}

}  // namespace

Tensor number_tensor(const Scalar& number) {
  Tensor t = scalar_tensor(number, number.type());
  t.unsafe_impl()->is_wrapped_number = true;
  return t;
}

Py_ssize_t tensor_length(PyObject* self) {
  return guarded(
      [&]() -> Py_ssize_t {
        if (has_override(self)) {
          const Object result = Object::adopt(call_override("__len__", {self}));
          return PyNumber_AsSsize_t(result.get(), PyExc_OverflowError);
        }
        const Tensor& t = tensor_of(self);
        TENON_CHECK_TYPE(t.dim() > 0, "len() of a 0-d tensor");
        return t.sizes()[0];
      },
      Py_ssize_t{-1});
}

void add_operator_slots(std::vector<PyType_Slot>& slots) {
  const auto add = [&](int slot, auto* function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
  };
  add(Py_nb_add, nb_add);
  add(Py_nb_subtract, nb_sub);
  add(Py_nb_multiply, nb_mul);
  add(Py_nb_true_divide, nb_div);
  add(Py_nb_floor_divide, nb_floor_divide);
  add(Py_nb_remainder, nb_remainder);
  add(Py_nb_power, nb_power);
  add(Py_nb_matrix_multiply, nb_matmul);
  add(Py_nb_and, nb_and);
  add(Py_nb_or, nb_or);
  add(Py_nb_xor, nb_xor);
  add(Py_nb_lshift, nb_lshift);
  add(Py_nb_rshift, nb_rshift);
  add(Py_nb_inplace_add, nb_inplace_add);
  add(Py_nb_inplace_subtract, nb_inplace_sub);
  add(Py_nb_inplace_multiply, nb_inplace_mul);
  add(Py_nb_inplace_true_divide, nb_inplace_div);
  add(Py_nb_inplace_floor_divide, nb_inplace_floor_divide);
  add(Py_nb_inplace_remainder, nb_inplace_remainder);
  add(Py_nb_inplace_power, nb_inplace_power);
  add(Py_nb_inplace_and, nb_inplace_and);
  add(Py_nb_inplace_or, nb_inplace_or);
  add(Py_nb_inplace_xor, nb_inplace_xor);
  add(Py_nb_inplace_lshift, nb_inplace_lshift);
  add(Py_nb_inplace_rshift, nb_inplace_rshift);
  add(Py_nb_negative, nb_negative);
  add(Py_nb_positive, nb_positive);
  add(Py_nb_absolute, nb_absolute);
  add(Py_nb_invert, nb_invert);
  add(Py_nb_bool, nb_bool);
  add(Py_nb_int, nb_int);
  add(Py_nb_float, nb_float);
  add(Py_nb_index, nb_index);
  add(Py_tp_richcompare, compare);
  add(Py_tp_hash, hash);
  add(Py_tp_iter, iterate);
  add(Py_sq_contains, contains);
  add(Py_mp_length, tensor_length);
  add(Py_mp_subscript, tensor_subscript);
  add(Py_mp_ass_subscript, tensor_assign);
}

}  // namespace tenon::python
