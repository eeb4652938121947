#pragma once

#include "bindings/python/src/object.h"

namespace tenon::python {

/// Gives Tensor its generated methods, and those that are written by hand.
void add_tensor_methods();
/// Makes the generated functions, each in its module: `tenon._C`, `tenon._C._nn`.
void add_functions(PyObject* module);

}  // namespace tenon::python
