#pragma once

#include <nanobind/nanobind.h>

namespace tenon::python {

/// tenon.linalg.LinAlgError, a subclass of RuntimeError.
PyObject* linalg_error_type();

/// Puts it into the module, tells the library where a Python package has LAPACK, and has warnings
/// be Python's.
void add_errors(nanobind::module_& module);

}  // namespace tenon::python
