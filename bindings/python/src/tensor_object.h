#pragma once

#include "bindings/python/src/object.h"
#include "tenon/tensor.h"

namespace tenon::python {

/// A tensor in Python. There is at most one such object for a tensor at a time, so that what is
/// the same tensor in C++ is the same object in Python.
struct TensorObject {
  PyObject_HEAD Tensor tensor;
  PyObject* dict;
  PyObject* weak_references;
};

extern PyTypeObject* tensor_type;

inline bool is_exact_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline bool is_tensor(PyObject* object) {
  return is_exact_tensor(object) || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}
/// Of an object for which is_tensor() holds.
inline Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}

/// A new reference to the tensor's object; None for an undefined tensor.
PyObject* wrap(Tensor tensor);
/// The same as an object of a subclass of Tensor. TypeError if the tensor has an object already.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);
inline PyObject* wrap(TensorBase tensor) { return wrap(Tensor(std::move(tensor))); }

/// Makes the type, without operators.
void add_tensor_type(PyObject* module);

}  // namespace tenon::python
