#include <nanobind/nanobind.h>

#include "aten/core/error.h"
#include "bindings/python/src/object.h"

namespace tenon::python {

void set_error_from_exception() noexcept {
  try {
    throw;
  } catch (const ErrorIsSet&) {
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const IndexError& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const ValueError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const TypeError& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const NotImplementedError& error) {
    PyErr_SetString(PyExc_NotImplementedError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown C++ exception was thrown");
  }
}

PyTypeObject* add_type(PyObject* module, PyType_Spec* spec, PyObject* base) {
  const Object bases = base ? Object::adopt(PyTuple_Pack(1, base)) : Object();
  Object type = Object::adopt(PyType_FromSpecWithBases(spec, bases.get()));
  check(PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

}  // namespace tenon::python
