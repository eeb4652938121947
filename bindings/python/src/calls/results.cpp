#include "bindings/python/src/calls/results.h"

#include <structmember.h>

#include <string>

namespace tenon::python {
namespace {

/// "tenon.return_types.max(\nvalues=tensor([2.]),\nindices=tensor([1]))"
PyObject* result_repr(PyObject* self) {
  return guarded([&] {
    PyTypeObject* const type = Py_TYPE(self);
    std::string text = std::string(type->tp_name) + "(";
    for (Py_ssize_t i = 0; i < Py_SIZE(self); ++i) {
      const Object value = Object::adopt(PyObject_Repr(PyStructSequence_GET_ITEM(self, i)));
      const char* const shown = PyUnicode_AsUTF8(value.get());
      if (!shown) throw ErrorIsSet();
      text += std::string(i ? ",\n" : "\n") + type->tp_members[i].name + "=" + shown;
    }
    return PyUnicode_FromString((text + ")").c_str());
  });
}

PyTypeObject* make_type(const ResultType& result, size_t count) {
  // The type keeps pointers to its texts, and lives as long as the process.
  const auto& name = *new std::string(std::string("tenon.return_types.") + result.operator_name);
  auto* fields = new PyStructSequence_Field[count + 1]();
  for (size_t i = 0; i < count; ++i) fields[i].name = result.fields[i];
  PyStructSequence_Desc desc = {name.c_str(), nullptr, fields, static_cast<int>(count)};
  PyTypeObject* const type = PyStructSequence_NewType(&desc);
  if (!type) throw ErrorIsSet();
  type->tp_repr = result_repr;
  return type;
}

}  // namespace

PyObject* wrap(const Scalar& value) {
  if (value.is_boolean()) return wrap(value.toBool());
  if (value.is_integral(false)) return wrap(value.toLong());
  if (!value.is_complex()) return wrap(value.toDouble());
  const std::complex<double> number = value.toComplexDouble();
  return PyComplex_FromDoubles(number.real(), number.imag());
}

PyObject* wrap(const std::vector<Tensor>& tensors) {
  Object tuple = Object::adopt(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(tensors[i]));
  }
  return tuple.release();
}

PyObject* make_tuple(PyObject* const* values, size_t count) {
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(count));
  for (size_t i = 0; i < count; ++i) {
    if (tuple)
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), values[i]);
    else
      Py_DECREF(values[i]);
  }
  return tuple;
}

PyObject* make_result(ResultType& result, PyObject* const* values, size_t count) {
  Object owned = Object::adopt(make_tuple(values, count));
  if (!result.type) result.type = make_type(result, count);
  Object object = Object::adopt(PyStructSequence_New(result.type));
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    PyStructSequence_SET_ITEM(object.get(), at, Py_NewRef(PyTuple_GET_ITEM(owned.get(), at)));
  }
  return object.release();
}

}  // namespace tenon::python
