#pragma once

#include "bindings/python/src/object.h"

namespace tenon::python {

/// Whether the object is of a subclass of numpy's type `name`; false as long as nobody uses numpy.
bool is_numpy(PyObject* object, const char* name);

}  // namespace tenon::python
