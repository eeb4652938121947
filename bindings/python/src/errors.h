#pragma once

#include <nanobind/nanobind.h>

namespace tenon::python {

/// tenon.linalg.LinAlgError, a subclass of RuntimeError.
PyObject* linalg_error_type();

/// Puts it into the module, and tells the library where a Python package has LAPACK.
void add_linalg(nanobind::module_& module);

}  // namespace tenon::python
