#include "bindings/python/src/calls/boxed_values.h"

#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/results.h"
#include "bindings/python/src/named_values.h"
#include "codegen/schema/printer.h"

namespace tenon::python {

using schema::BaseType;

namespace {

template <class List>
PyObject* wrap_list(const List& list) {
  const auto size = static_cast<Py_ssize_t>(list.size());
  Object made = Object::adopt(PyList_New(size));
  for (Py_ssize_t i = 0; i < size; ++i)
    PyList_SET_ITEM(made.get(), i, wrap(typename List::value_type(list[i])));
  return made.release();
}

/// Undefined tensors of the list are None.
PyObject* wrap_tensors(const Value::Tensors& list) {
  Object made = Object::adopt(PyList_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) {
    PyList_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i),
                    list[i].defined() ? wrap(Tensor(list[i])) : none());
  }
  return made.release();
}

[[noreturn]] void refuse(nb::handle object, const schema::Type& type, const std::string& what) {
  throw TypeError(tenon::detail::concat(what, ": expected ", schema::to_string(type), ", got ",
                                        Py_TYPE(object.ptr())->tp_name));
}

Value read_one(nb::handle object, const schema::Type& type, const std::string& what) {
  PyObject* const p = object.ptr();
  switch (type.base) {
  case BaseType::kTensor:
    if (is_tensor(p)) return TensorBase(tensor_of(p));
    break;
  case BaseType::kBool:
    if (PyBool_Check(p)) return p == Py_True;
    break;
  case BaseType::kInt:
  case BaseType::kSymInt:
    if (PyLong_Check(p)) return nb::cast<int64_t>(object);
    break;
  case BaseType::kFloat:
    if (PyFloat_Check(p) || PyLong_Check(p)) return nb::cast<double>(object);
    break;
  case BaseType::kScalar:
    if (PyBool_Check(p)) return Scalar(p == Py_True);
    if (PyLong_Check(p)) return Scalar(nb::cast<int64_t>(object));
    if (PyFloat_Check(p)) return Scalar(nb::cast<double>(object));
    if (PyComplex_Check(p))
      return Scalar(std::complex<double>(PyComplex_RealAsDouble(p), PyComplex_ImagAsDouble(p)));
    break;
  case BaseType::kStr:
    if (PyUnicode_Check(p)) return std::string_view(nb::cast<std::string>(object));
    break;
  case BaseType::kScalarType:
    if (is_dtype(p)) return dtype_of(p);
    break;
  case BaseType::kDevice:
    if (is_device(p)) return device_of(p);
    break;
  default: break;
  }
  refuse(object, type, what);
}

Value read_list(nb::handle object, const schema::Type& type, const std::string& what) {
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) refuse(object, type, what);
  const schema::Type element = type.element();
  Value::Tensors tensors;
  Value::Ints ints;
  Value::Doubles doubles;
  Value::Bools bools;
  Value::Scalars scalars;
  for (const nb::handle item : object) {
    if (element.base == BaseType::kTensor && item.is_none() && element.is_optional()) {
      tensors.emplace_back();
      continue;
    }
    const Value one = read_one(item, element, what);
    switch (element.base) {
    case BaseType::kTensor: tensors.push_back(one.to_tensor()); break;
    case BaseType::kFloat: doubles.push_back(one.to_double()); break;
    case BaseType::kBool: bools.push_back(one.to_bool()); break;
    case BaseType::kScalar: scalars.push_back(one.to_scalar()); break;
    default: ints.push_back(one.to_int());
    }
  }
  switch (element.base) {
  case BaseType::kTensor: return tensors;
  case BaseType::kFloat: return doubles;
  case BaseType::kBool: return bools;
  case BaseType::kScalar: return scalars;
  default: return ints;
  }
}

}  // namespace

PyObject* wrap_value(const Value& value, const schema::Type& type) {
  if (value.is_none()) return none();
  if (value.is_tensor()) return wrap(Tensor(value.to_tensor()));
  if (value.is_tensor_list()) return wrap_tensors(value.to_tensors());
  if (type.without_optional().is_list()) {
    switch (type.base) {
    case BaseType::kFloat: return wrap_list(value.to_doubles());
    case BaseType::kBool: return wrap_list(value.to_bools());
    case BaseType::kScalar: return wrap_list(value.to_scalars());
    default: return wrap_list(value.to_ints());
    }
  }
  switch (type.base) {
  case BaseType::kBool: return wrap(value.to_bool());
  case BaseType::kFloat: return wrap(value.to_double());
  case BaseType::kScalar: return wrap(value.to_scalar());
  case BaseType::kScalarType: return wrap(value.to_enum<ScalarType>());
  case BaseType::kLayout: return wrap(value.to_enum<Layout>());
  case BaseType::kMemoryFormat: return wrap(value.to_enum<MemoryFormat>());
  case BaseType::kDevice: return wrap(value.to_device());
  case BaseType::kGenerator: return wrap(value.to_generator());
  case BaseType::kStr: return PyUnicode_FromString(value.to_str().c_str());
  default: return wrap(value.to_int());
  }
}

Value read_value(nb::handle object, const schema::Type& type, const std::string& what) {
  if (object.is_none()) {
    if (type.is_optional() || type.base == BaseType::kTensor) return {};
    refuse(object, type, what);
  }
  const schema::Type plain = type.without_optional();
  return plain.is_list() ? read_list(object, plain, what) : read_one(object, plain, what);
}

}  // namespace tenon::python
