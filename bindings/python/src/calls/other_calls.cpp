#include "bindings/python/src/calls/other_calls.h"

#include <algorithm>
#include <string>
#include <vector>

#include "bindings/python/src/calls/operators.h"

namespace tenon::python {
namespace {

/// A call with other arguments; an error of it stands.
PyObject* call_again(const Function& function, const void* context, PyObject* self,
                     const std::vector<PyObject*>& args, size_t count, PyObject* names) {
  return Object::adopt(call_function(function, context, self, args.data(),
                                     static_cast<Py_ssize_t>(count), names))
      .release();
}

bool takes_numbers(std::string_view name) {
  constexpr std::string_view kNames[] = {"add", "sub",    "subtract",    "mul",         "multiply",
                                         "div", "divide", "true_divide", "floor_divide"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool is_operand_name(PyObject* name) {
  return PyUnicode_CompareWithASCIIString(name, "input") == 0 ||
         PyUnicode_CompareWithASCIIString(name, "other") == 0;
}

/// A number in the dtype that a tensor of it would have.
Tensor tensor_of_number(const Scalar& number) {
  const Tensor t = number_tensor(number);
  if (is_complex(t.scalar_type())) return t.to(to_complex(get_default_dtype()));
  return is_floating_point(t.scalar_type()) ? t.to(get_default_dtype()) : t;
}

/// `add(1, x)`, `add(1, 2)`: numbers count as tensors, which promote as numbers do beside tensors.
PyObject* call_with_numbers(const Function& function, const void* context, PyObject* const* args,
                            Py_ssize_t count, PyObject* names) {
  if (!takes_numbers(function.name)) return nullptr;
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  std::vector<PyObject*> all(args, args + count + named);
  std::vector<Object> tensors;
  const auto is_operand = [&](Py_ssize_t i) {
    return i < count ? i < 2 : is_operand_name(PyTuple_GET_ITEM(names, i - count));
  };
  bool first = false, alone = true;
  for (Py_ssize_t i = 0; i < count + named; ++i) alone &= !is_operand(i) || is_number(args[i]);
  for (Py_ssize_t i = 0; i < count + named; ++i) {
    auto& one = all[static_cast<size_t>(i)];
    if (!is_operand(i) || !is_number(one)) continue;
    first |= i == 0;
    const Scalar number = Arguments::read_scalar(one);
    one = tensors
              .emplace_back(
                  Object::adopt(wrap(alone ? tensor_of_number(number) : number_tensor(number))))
              .get();
  }
  if (!first) return nullptr;
  return call_again(function, context, nullptr, all, static_cast<size_t>(count), names);
}

/// An order of arguments of old: `t` is a tensor, `n` a number. Today the tensors come first, in
/// this order, and the numbers are given by these names.
struct Order {
  const char* functions;
  std::string_view arguments;
  const char* keywords[2];
};
constexpr const char* kProducts = " addmm addmv addr addbmm baddbmm ";
constexpr Order kOrders[] = {
    {" add sub ", "tnt", {"alpha"}},         {" addcmul addcdiv ", "tntt", {"value"}},
    {kProducts, "ntntt", {"beta", "alpha"}}, {kProducts, "tnntt", {"beta", "alpha"}},
    {kProducts, "nttt", {"beta"}},           {kProducts, "tntt", {"beta"}},
};

const Order* find_order(std::string name, std::string_view arguments) {
  if (name.ends_with('_')) name.pop_back();
  name = " " + name + " ";
  for (const Order& order : kOrders) {
    if (order.arguments == arguments &&
        std::string_view(order.functions).find(name) != std::string_view::npos) {
      return &order;
    }
  }
  return nullptr;
}

PyObject* call_in_order(const Function& function, const void* context, PyObject* self,
                        PyObject* const* args, Py_ssize_t count, PyObject* names) {
  std::string arguments = self ? "t" : "";
  std::vector<PyObject*> all, numbers;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const bool tensor = is_tensor(args[i]);
    if (!tensor && !is_number(args[i])) return nullptr;
    arguments += tensor ? 't' : 'n';
    (tensor ? all : numbers).push_back(args[i]);
  }
  const Order* const order = find_order(function.name, arguments);
  if (!order) return nullptr;
  const size_t tensors = all.size();
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  const auto given = static_cast<Py_ssize_t>(numbers.size());
  all.insert(all.end(), numbers.begin(), numbers.end());
  all.insert(all.end(), args + count, args + count + named);
  const Object keywords = Object::adopt(PyTuple_New(given + named));
  std::string text;
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyTuple_SET_ITEM(keywords.get(), i,
                     Object::adopt(PyUnicode_FromString(order->keywords[i])).release());
    text += std::string(i ? " and " : "") + order->keywords[i];
  }
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyTuple_SET_ITEM(keywords.get(), given + i, Py_NewRef(PyTuple_GET_ITEM(names, i)));
  }
  text = "This overload of " + std::string(function.name) + " is deprecated: give " + text +
         " by name, after the tensors.";
  check(PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1));
  return call_again(function, context, self, all, tensors, keywords.get());
}

}  // namespace

PyObject* call_as_meant(const Function& function, const void* context, PyObject* self,
                        PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (!self) {
    if (PyObject* const result = call_with_numbers(function, context, args, count, names)) {
      return result;
    }
  }
  return call_in_order(function, context, self, args, count, names);
}

}  // namespace tenon::python
