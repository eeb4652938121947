#pragma once

#include "bindings/python/src/calls/arguments.h"

namespace tenon::python {

/// The call of a function that no overload takes, with the arguments that PyTorch understands by
/// them: numbers for tensors of the basic operators, `add(1, x)`, and orders of its early versions,
/// `addcmul(x, value, a, b)`, with a UserWarning. Null, without an error, if it is neither.
PyObject* call_as_meant(const Function& function, const void* context, PyObject* self,
                        PyObject* const* args, Py_ssize_t count, PyObject* names);

}  // namespace tenon::python
