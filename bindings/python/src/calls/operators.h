#pragma once

#include <vector>

#include "aten/core/scalar.h"
#include "bindings/python/src/object.h"
#include "tenon/tensor.h"

namespace tenon::python {

/// Python's operators, comparisons, indexing and iteration of Tensor.
void add_operator_slots(std::vector<PyType_Slot>& slots);

/// The buffer protocol.
void add_buffer_slots(std::vector<PyType_Slot>& slots);

/// A tensor that stands for a number in type promotion.
Tensor number_tensor(const Scalar& number);

/// self[index], and self[index] = value.
PyObject* tensor_subscript(PyObject* self, PyObject* index);
int tensor_assign(PyObject* self, PyObject* index, PyObject* value);
Py_ssize_t tensor_length(PyObject* self);

}  // namespace tenon::python
