#pragma once

#include <optional>

#include "bindings/python/src/tensor_object.h"

namespace tenon::python {

/// A tensor of the values of `data`: a number, nested sequences of numbers, a tensor, anything with
/// Python's buffer protocol such as a numpy array. Always a copy.
Tensor make_tensor(PyObject* data, std::optional<ScalarType> dtype, std::optional<Device> device);
/// A tensor over the memory of an object with the buffer protocol, which it keeps alive. A warning
/// where that memory may not be written, unless the tensor is only read.
Tensor from_buffer(PyObject* object, bool only_read = false);
/// tensor.tolist()
PyObject* to_list(const Tensor& tensor);

void add_creation(PyObject* module);

}  // namespace tenon::python
