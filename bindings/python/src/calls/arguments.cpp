#include "bindings/python/src/calls/arguments.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "bindings/python/src/calls/other_calls.h"
#include "bindings/python/src/calls/overrides.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/numpy_objects.h"
#include "tenon/ops/item.h"

namespace tenon::python {
namespace {

bool is_list(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }
Py_ssize_t list_size(PyObject* list) { return PySequence_Fast_GET_SIZE(list); }
PyObject** list_items(PyObject* list) { return PySequence_Fast_ITEMS(list); }

template <class Is>
bool all_of(PyObject* object, Is&& is) {
  if (!is_list(object)) return false;
  // By index: what is() calls may change a list.
  for (Py_ssize_t i = 0; i < list_size(object); ++i) {
    if (!is(list_items(object)[i])) return false;
  }
  return true;
}

bool is_boolean(PyObject* object) { return PyBool_Check(object) || is_numpy(object, "bool_"); }
bool is_real(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) ||
         (!is_tensor(object) && !PyComplex_Check(object) &&
          (is_numpy(object, "floating") || is_numpy(object, "integer")));
}

/// A tensor that may stand for a number.
bool is_single(PyObject* object) {
  if (!is_tensor(object)) return false;
  const Tensor& t = tensor_of(object);
  return t.dim() == 0 && !t.requires_grad();
}

bool is_integer_or_tensor(PyObject* object) {
  return is_integer(object) ||
         (is_single(object) && is_integral(tensor_of(object).scalar_type(), false));
}

/// A list of integers. As in PyTorch only the first may not be a bool.
bool all_integers(PyObject* object, bool (*is)(PyObject*)) {
  bool later = false;
  return all_of(object, [&](PyObject* o) {
    const bool first = !std::exchange(later, true);
    return is(o) || (!first && PyBool_Check(o));
  });
}

/// Whether the object can be an argument of the kind. `lenient`: also a tensor for a number.
bool matches(const Parameter& p, PyObject* object, bool lenient) {
  switch (p.kind) {
  case Kind::Tensor: return is_tensor(object);
  case Kind::TensorList: return all_of(object, is_tensor);
  case Kind::OptionalTensorList:
    return all_of(object, [](PyObject* o) { return o == Py_None || is_tensor(o); });
  case Kind::Int: return lenient ? is_integer_or_tensor(object) : is_integer(object);
  case Kind::IntList:
    if (p.size > 0 && is_integer(object)) return true;
    return all_integers(object, lenient ? is_integer_or_tensor : is_integer);
  case Kind::Float: return is_real(object) || (lenient && is_single(object));
  case Kind::FloatList: return all_of(object, is_real);
  case Kind::Bool: return is_boolean(object);
  case Kind::BoolList:
    return all_of(object, is_boolean) && (p.size == 0 || list_size(object) == p.size);
  case Kind::Scalar: return is_number(object) || (lenient && is_single(object));
  case Kind::ScalarList: return all_of(object, is_number);
  case Kind::String: return PyUnicode_Check(object);
  case Kind::DType: return is_dtype(object);
  case Kind::Layout: return is_layout(object);
  case Kind::Device: return is_device(object);
  case Kind::MemoryFormat: return is_memory_format(object);
  case Kind::Generator: return is_generator(object);
  case Kind::Out:
    if (p.size == 1) return is_tensor(object);
    // No list: another thread could take a tensor out of it while the call writes to it.
    return PyTuple_Check(object) && all_of(object, is_tensor) && list_size(object) == p.size;
  }
  return false;
}

const char* kind_text(const Parameter& p) {
  switch (p.kind) {
  case Kind::Tensor: return "Tensor";
  case Kind::TensorList: return "tuple of Tensors";
  case Kind::OptionalTensorList: return "tuple of Tensors or None";
  case Kind::Int: return "int";
  case Kind::IntList: return p.size > 0 ? "int or tuple of ints" : "tuple of ints";
  case Kind::Float: return "float";
  case Kind::FloatList: return "tuple of floats";
  case Kind::Bool: return "bool";
  case Kind::BoolList: return "tuple of bools";
  case Kind::Scalar: return "Number";
  case Kind::ScalarList: return "tuple of Numbers";
  case Kind::String: return "str";
  case Kind::DType: return "dtype";
  case Kind::Layout: return "layout";
  case Kind::Device: return "device";
  case Kind::MemoryFormat: return "memory_format";
  case Kind::Generator: return "Generator";
  case Kind::Out: return p.size == 1 ? "Tensor" : "tuple of Tensors, one for each result";
  }
  return "";
}

/// "Tensor", "float", "tuple of (int, str)"
std::string type_text(PyObject* object) {
  if (is_exact_tensor(object)) return "Tensor";
  if (is_list(object)) {
    std::string text = PyTuple_Check(object) ? "tuple of (" : "list of (";
    const Py_ssize_t count = std::min<Py_ssize_t>(list_size(object), 8);
    for (Py_ssize_t i = 0; i < count; ++i) {
      text += (i ? ", " : "") + std::string(Py_TYPE(list_items(object)[i])->tp_name);
    }
    return text + (count < list_size(object) ? ", ...)" : ")");
  }
  return Py_TYPE(object)->tp_name;
}

/// Other names of parameters that PyTorch accepts: NumPy's, and those of functions that PyTorch has
/// in Python.
bool is_other_name(const char* parameter, PyObject* given) {
  static constexpr const char* kNames[][2] = {
      {"dim", "axis"}, {"keepdim", "keepdims"}, {"input", "x"},
      {"input", "x1"}, {"input", "a"},          {"input", "self"},
      {"other", "x2"}, {"input", "tensor"},     {"split_size", "split_size_or_sections"}};
  for (const auto& [ours, theirs] : kNames) {
    if (std::strcmp(parameter, ours) == 0 && PyUnicode_CompareWithASCIIString(given, theirs) == 0) {
      return true;
    }
  }
  return false;
}

int find_parameter(const Overload& overload, PyObject* name) {
  for (int i = 0; i < overload.count; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, overload.parameters[i].name) == 0) return i;
  }
  for (int i = 0; i < overload.count; ++i) {
    if (is_other_name(overload.parameters[i].name, name)) return i;
  }
  return -1;
}

std::string text_of(PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) throw ErrorIsSet();
  return text;
}

/// What was passed to a function.
struct Call {
  PyObject* self;
  PyObject* const* args;
  Py_ssize_t count;
  PyObject* names;  ///< of the last arguments, or null

  Py_ssize_t named() const { return names ? PyTuple_GET_SIZE(names) : 0; }
};

/// Whether one number may be another overload's than that of a list: `x.hsplit(2)`.
bool takes_number(const Function& function) {
  for (size_t i = 0; i < function.count; ++i) {
    const Overload& overload = *function.overloads[i];
    const int first = overload.self == 0 ? 1 : 0;
    if (overload.count > first && overload.parameters[first].kind == Kind::Int) return true;
  }
  return false;
}

/// Gives each parameter of a.overload its argument. False if it does not take the call: then `why`,
/// unless null, is the reason.
bool bind(Arguments& a, const Call& call, bool lenient, std::string* why) {
  const Overload& overload = *a.overload;
  std::fill_n(a.values, overload.count, nullptr);
  a.varargs_at = -1;
  a.elements = 0;
  a.subclasses = false;
  const int self = call.self ? overload.self : -1;
  if (self >= 0) a.values[self] = call.self;
  const int free = overload.positional - (self >= 0 ? 1 : 0);
  const int first = self == 0 ? 1 : 0;
  const bool may_be_list = lenient || call.count > 1 || !takes_number(*a.function);
  if (free == 1 && call.count > 0 && may_be_list &&
      overload.parameters[first].kind == Kind::IntList && is_integer_or_tensor(call.args[0])) {
    for (Py_ssize_t i = 0; i < call.count; ++i) {
      if (is_integer_or_tensor(call.args[i])) continue;
      if (why) {
        *why = "argument " + std::to_string(i + 1) + " must be int, not " + type_text(call.args[i]);
      }
      return false;
    }
    a.varargs = call.args;
    a.varargs_count = static_cast<size_t>(call.count);
    a.varargs_at = first;
    a.values[first] = call.args[0];
  } else {
    if (call.count > free) {
      if (why) {
        *why = "at most " + std::to_string(free) + " positional argument" +
               (free == 1 ? " is" : "s are") + " taken, got " + std::to_string(call.count);
      }
      return false;
    }
    int at = 0;
    for (Py_ssize_t i = 0; i < call.count; ++i, ++at) {
      if (at == self) ++at;
      a.values[at] = call.args[i];
    }
  }
  for (Py_ssize_t i = 0; i < call.named(); ++i) {
    PyObject* const name = PyTuple_GET_ITEM(call.names, i);
    PyObject* const value = call.args[call.count + i];
    const int at = find_parameter(overload, name);
    if (at < 0) {
      if (value == Py_None && PyUnicode_CompareWithASCIIString(name, "out") == 0) continue;
      if (why) *why = "there is no argument '" + text_of(name) + "'";
      return false;
    }
    if (a.values[at]) {
      if (why) *why = "argument '" + text_of(name) + "' is given twice";
      return false;
    }
    a.values[at] = value;
  }
  for (int i = 0; i < overload.count; ++i) {
    const Parameter& p = overload.parameters[i];
    PyObject* const value = a.values[i];
    if (!value) {
      if (p.has_default) continue;
      if (why) *why = std::string("argument '") + p.name + "' is missing";
      return false;
    }
    if (value == Py_None && p.optional) continue;
    if (i == a.varargs_at) continue;
    if (p.kind == Kind::Tensor && is_tensor(value)) {
      a.subclasses |= !is_exact_tensor(value);
      a.elements = std::max(a.elements, tensor_of(value).numel());
    } else if (!matches(p, value, lenient)) {
      if (value == Py_None && p.has_default && p.kind != Kind::Out) {
        // PyTorch takes None for a name that is not given, and for requires_grad alone of bools.
        if (p.kind == Kind::DType || p.kind == Kind::MemoryFormat) continue;
        if (p.kind == Kind::Bool && std::string_view(p.name) == "requires_grad") continue;
      }
      if (why) {
        *why = std::string("argument '") + p.name + "' must be " + kind_text(p) + ", not " +
               type_text(value);
      }
      return false;
    } else if (p.kind == Kind::TensorList) {
      for (Py_ssize_t k = 0; k < list_size(value); ++k) {
        a.subclasses |= !is_exact_tensor(list_items(value)[k]);
        a.elements = std::max(a.elements, tensor_of(list_items(value)[k]).numel());
      }
    } else if (p.kind == Kind::Out || p.kind == Kind::OptionalTensorList) {
      a.subclasses = true;  // perhaps: these are looked at where they matter
    }
  }
  return true;
}

/// Within `with device:` a function that makes tensors of none makes them there, if it is not given
/// another device.
void set_default_device(Arguments& a) {
  const Parameter* const begin = a.overload->parameters;
  const Parameter* const end = begin + a.overload->count;
  const auto is_given = [](const Parameter& p) {
    return p.kind == Kind::Tensor || p.kind == Kind::Out;
  };
  if (std::any_of(begin, end, is_given)) return;
  for (const Parameter* p = begin; p != end; ++p) {
    const auto i = static_cast<size_t>(p - begin);
    if (p->kind == Kind::Device && p->optional && !a.given(i)) a.values[i] = default_device();
  }
}

/// What is wrong with a list that begins with a tensor, in PyTorch's words; "" where nothing is.
std::string wrong_element(const Function& function, const Call& call) {
  for (Py_ssize_t i = 0; i < call.count; ++i) {
    const auto takes_list = [i](const Overload* one) {
      return i < static_cast<Py_ssize_t>(one->count) && one->parameters[i].kind == Kind::TensorList;
    };
    PyObject* const list = call.args[i];
    if (!PyTuple_Check(list) && !PyList_Check(list)) continue;
    if (list_size(list) == 0 || !is_tensor(list_items(list)[0])) continue;
    if (!std::any_of(function.overloads, function.overloads + function.count, takes_list)) continue;
    for (Py_ssize_t k = 1; k < list_size(list); ++k) {
      PyObject* const item = list_items(list)[k];
      if (!is_tensor(item))
        return "expected Tensor as element " + std::to_string(k) + " in argument " +
               std::to_string(i) + ", but got " + Py_TYPE(item)->tp_name;
    }
  }
  return "";
}

PyObject* no_overload(const Function& function, const Call& call) {
  if (const std::string wrong = wrong_element(function, call); !wrong.empty()) {
    PyErr_SetString(PyExc_TypeError, wrong.c_str());
    return nullptr;
  }
  Arguments a;
  a.function = &function;
  std::string text = std::string(function.name) + "(): ";
  if (function.count == 1) {
    std::string why;
    a.overload = function.overloads[0];
    bind(a, call, true, &why);
    text += why + "; expected " + function.name + a.overload->signature;
  } else {
    text += "received an invalid combination of arguments - got (";
    for (Py_ssize_t i = 0; i < call.count + call.named(); ++i) {
      if (i) text += ", ";
      if (i >= call.count) text += text_of(PyTuple_GET_ITEM(call.names, i - call.count)) + "=";
      text += type_text(call.args[i]);
    }
    text += "), but expected one of:";
    for (size_t i = 0; i < function.count; ++i) {
      std::string why;
      a.overload = function.overloads[i];
      bind(a, call, true, &why);
      text += std::string("\n * ") + function.name + a.overload->signature + "\n      " + why;
    }
  }
  PyErr_SetString(PyExc_TypeError, text.c_str());
  return nullptr;
}

[[noreturn]] void raise_overflow() {
  PyErr_Clear();
  throw Error("value cannot be converted to type int64_t without overflow");
}

}  // namespace

bool is_numpy(PyObject* object, const char* name) {
  PyObject* const numpy = PyImport_GetModule(Object::adopt(PyUnicode_FromString("numpy")).get());
  if (!numpy) {
    PyErr_Clear();
    return false;
  }
  const Object module = Object::adopt(numpy);
  const Object type = Object::adopt(PyObject_GetAttrString(module.get(), name));
  const int is = PyObject_IsInstance(object, type.get());
  check(is);
  return is;
}

bool is_integer(PyObject* object) {
  if (PyLong_Check(object)) return !PyBool_Check(object);
  if (PyFloat_Check(object) || is_tensor(object) || !PyIndex_Check(object)) return false;
  return is_numpy(object, "integer");
}

bool is_number(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) return true;
  if (is_tensor(object) || !PyNumber_Check(object)) return false;
  return is_numpy(object, "number") || is_numpy(object, "bool_");
}

int64_t Arguments::read_integer(PyObject* object) {
  if (!PyLong_Check(object)) {
    if (is_tensor(object)) return tensor_of(object).item().toLong();
    return read_integer(Object::adopt(PyNumber_Index(object)).get());
  }
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) raise_overflow();
  return value;
}

double Arguments::read_real(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (is_tensor(object)) return tensor_of(object).item().toDouble();
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) throw ErrorIsSet();
  return value;
}

bool Arguments::read_boolean(PyObject* object) {
  const int value = PyObject_IsTrue(object);
  check(value);
  return value;
}

Scalar Arguments::read_scalar(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) return read_integer(object);
  if (is_tensor(object)) return tensor_of(object).item();
  if (PyComplex_Check(object) || is_numpy(object, "complexfloating")) {
    const Py_complex value = PyComplex_AsCComplex(object);
    if (value.real == -1 && PyErr_Occurred()) throw ErrorIsSet();
    return std::complex<double>(value.real, value.imag);
  }
  if (is_numpy(object, "bool_")) return read_boolean(object);
  if (PyIndex_Check(object)) return read_integer(object);
  return read_real(object);
}

Tensor& Arguments::out(size_t i, size_t which) const {
  PyObject* const value = values[i];
  return tensor_of(is_tensor(value) ? value : list_items(value)[which]);
}

std::vector<Tensor> Arguments::tensors(size_t i) const {
  std::vector<Tensor> list;
  if (!values[i]) return list;
  list.reserve(static_cast<size_t>(list_size(values[i])));
  for (Py_ssize_t k = 0; k < list_size(values[i]); ++k) {
    list.push_back(tensor_of(list_items(values[i])[k]));
  }
  return list;
}

std::vector<std::optional<Tensor>> Arguments::optional_tensors(size_t i) const {
  std::vector<std::optional<Tensor>> list;
  if (!values[i]) return list;
  for (Py_ssize_t k = 0; k < list_size(values[i]); ++k) {
    PyObject* const one = list_items(values[i])[k];
    list.push_back(one == Py_None ? std::nullopt : std::optional<Tensor>(tensor_of(one)));
  }
  return list;
}

void Arguments::read_integers(size_t i, DimVector& to) const {
  if (static_cast<int>(i) == varargs_at) {
    for (size_t k = 0; k < varargs_count; ++k) to.push_back(read_integer(varargs[k]));
    return;
  }
  PyObject* const value = values[i];
  if (!is_list(value)) {
    to.push_back(read_integer(value));
    return;
  }
  for (Py_ssize_t k = 0; k < list_size(value); ++k) {
    to.push_back(read_integer(list_items(value)[k]));
  }
}

DimVector Arguments::integers(size_t i, std::initializer_list<int64_t> otherwise) {
  const auto size = static_cast<size_t>(overload->parameters[i].size);
  DimVector list;
  if (!given(i)) {
    list.append(otherwise.begin(), otherwise.end());
  } else {
    read_integers(i, list);
    // A size: what is made of it may be large.
    int64_t product = 1;
    for (int64_t n : list) {
      if (n <= 0 || __builtin_mul_overflow(product, n, &product)) product = 0;
    }
    elements = std::max(elements, product);
  }
  // One number stands for all.
  while (list.size() == 1 && list.size() < size) {
    const int64_t one = list[0];
    while (list.size() < size) list.push_back(one);
  }
  return list;
}

OptionalInts Arguments::optional_integers(size_t i) {
  OptionalInts list;
  if (given(i)) {
    read_integers(i, list.values);
    list.given = true;
  }
  return list;
}

std::vector<double> Arguments::reals(size_t i) const {
  std::vector<double> list;
  if (!given(i)) return list;
  for (Py_ssize_t k = 0; k < list_size(values[i]); ++k) {
    list.push_back(read_real(list_items(values[i])[k]));
  }
  return list;
}

std::vector<Scalar> Arguments::scalars(size_t i) const {
  std::vector<Scalar> list;
  if (!given(i)) return list;
  for (Py_ssize_t k = 0; k < list_size(values[i]); ++k) {
    list.push_back(read_scalar(list_items(values[i])[k]));
  }
  return list;
}

void Arguments::read_booleans(size_t i, bool* to, size_t count) const {
  if (!given(i)) return;
  for (size_t k = 0; k < count; ++k) to[k] = read_boolean(list_items(values[i])[k]);
}

std::string_view Arguments::string(size_t i, std::string_view otherwise) const {
  if (!given(i)) return otherwise;
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(values[i], &size);
  if (!text) throw ErrorIsSet();
  return {text, static_cast<size_t>(size)};
}

ScalarType Arguments::dtype(size_t i, ScalarType otherwise) const {
  return given(i) ? dtype_of(values[i]) : otherwise;
}
tenon::Layout Arguments::layout(size_t i, tenon::Layout otherwise) const {
  return given(i) ? layout_of(values[i]) : otherwise;
}
tenon::Device Arguments::device(size_t i, tenon::Device otherwise) const {
  return given(i) ? device_of(values[i]) : otherwise;
}
tenon::MemoryFormat Arguments::memory_format(size_t i, tenon::MemoryFormat otherwise) const {
  return given(i) ? memory_format_of(values[i]) : otherwise;
}
std::optional<tenon::Generator> Arguments::optional_generator(size_t i) const {
  return given(i) ? std::optional(generator_of(values[i])) : std::nullopt;
}

PyObject* call_function(const Function& function, const void* context, PyObject* self,
                        PyObject* const* args, Py_ssize_t count, PyObject* names) noexcept {
  return guarded([&]() -> PyObject* {
    const Call call{self, args, PyVectorcall_NARGS(static_cast<size_t>(count)), names};
    Arguments a;
    a.function = &function;
    a.context = context;
    for (const bool lenient : {false, true}) {
      for (size_t i = 0; i < function.count; ++i) {
        a.overload = function.overloads[i];
        if (!bind(a, call, lenient, nullptr)) continue;
        if (TENON_UNLIKELY(default_device() != nullptr)) set_default_device(a);
        if (a.subclasses || TENON_UNLIKELY(function_mode_count != 0)) {
          PyObject* const result = call_override(function, self, args, call.count, names);
          if (result) return result;
        }
        return a.overload->call(a);
      }
    }
    // Objects that are no tensors may take the call.
    PyObject* result = call_override(function, self, args, call.count, names);
    if (!result) result = call_as_meant(function, context, self, args, call.count, names);
    return result ? result : no_overload(function, call);
  });
}

PyObject* call_function(const Function& function, PyObject* self, PyObject* const* args,
                        Py_ssize_t count, PyObject* names) noexcept {
  return call_function(function, nullptr, self, args, count, names);
}

}  // namespace tenon::python
