#include "bindings/python/src/errors.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

#include "aten/common/linalg_error.h"
#include "aten/cpu/linalg/lapack.h"
#include "aten/dispatch/warning.h"
#include "bindings/python/src/calls/caster.h"

namespace tenon::python {
namespace {

/// Carries what is no error, such as the end of a checkpointed call, through Python's frames. No
/// Exception, so that nobody catches it on the way.
nanobind::handle carrier_type() {
  static PyObject* const type =
      PyErr_NewException("tenon._C._CppException", PyExc_BaseException, nullptr);
  return type;
}

void carry(std::exception_ptr exception) {
  auto* kept = new std::exception_ptr(std::move(exception));
  PyObject* const capsule = PyCapsule_New(kept, nullptr, [](PyObject* self) {
    delete static_cast<std::exception_ptr*>(PyCapsule_GetPointer(self, nullptr));
  });
  if (!capsule) return;
  PyErr_SetObject(carrier_type().ptr(), capsule);
  Py_DECREF(capsule);
}

/// Whether messages name the operator as PyTorch's do.
bool of_pytorch = false;

/// "linalg.qr: text" for "[linalg.qr] text", and PyTorch's names of objects.
std::string as_pytorchs(std::string message) {
  const size_t end = message.find("] ");
  const auto is_name = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
  if (message.starts_with('[') && end != std::string::npos &&
      std::all_of(message.begin() + 1, message.begin() + static_cast<std::ptrdiff_t>(end),
                  is_name)) {
    const std::string op = message.substr(1, end - 1);
    // These are named as calls.
    const bool is_call = op == "einsum" || op == "inner" || op == "take" || op == "gather" ||
                         op == "scatter" || op.starts_with("index_");
    message = op + (is_call ? "(): " : ": ") + message.substr(end + 2);
  }
  for (size_t at = 0; (at = message.find("tenon.", at)) != std::string::npos; at += 6) {
    const char before = at == 0 ? ' ' : message[at - 1];
    if (!is_name(static_cast<unsigned char>(before)) && before != '/')
      message.replace(at, 5, "torch");
  }
  return message;
}

/// Makes warnings of the library UserWarnings of Python.
class PythonWarnings final : public WarningHandler {
 public:
  void process(const Warning& warning) override {
    if (!Py_IsInitialized()) return WarningHandler::process(warning);
    const nanobind::gil_scoped_acquire locked;
    const nanobind::error_scope pending;  // an error that is on its way stays
    // Thrown, not set: other threads than the caller's warn too.
    if (PyErr_WarnEx(PyExc_UserWarning, warning.msg().c_str(), 1) != 0)
      throw nanobind::python_error();
  }
};

/// Messages may quote file names and texts that are no UTF-8.
void set_error(PyObject* type, const char* message) {
  const std::string changed = of_pytorch ? as_pytorchs(message) : std::string();
  const char* const what = of_pytorch ? changed.c_str() : message;
  PyObject* const text =
      PyUnicode_DecodeUTF8(what, static_cast<Py_ssize_t>(std::strlen(what)), "surrogateescape");
  if (!text) return;
  PyErr_SetObject(type, text);
  Py_DECREF(text);
}

/// The LAPACK library of the Python package scipy-openblas32, or an empty text.
std::string packaged_lapack() {
  if (!Py_IsInitialized()) return {};
  const nanobind::gil_scoped_acquire locked;
  return nanobind::cast<std::string>(
      nanobind::module_::import_("tenon.linalg").attr("_packaged_lapack")());
}

}  // namespace

PyObject* linalg_error_type() {
  static PyObject* const type = PyErr_NewExceptionWithDoc(
      "tenon.linalg.LinAlgError",
      "A matrix has no such factorization, inverse or solution, or an algorithm did not converge.",
      PyExc_RuntimeError, nullptr);
  return type;
}

void add_errors(nanobind::module_& module) {
  module.attr("_LinAlgError") = nanobind::borrow(linalg_error_type());
  static PythonWarnings warnings;
  WarningUtils::set_process_handler(&warnings);
  module.def("_name_operators_as_pytorch", [](bool on) { of_pytorch = on; });
  module.def("_lapack_path", &native::lapack::library_path);
  native::lapack::set_library_finder(&packaged_lapack);
}

void set_error_from_exception() noexcept {
  try {
    throw;
  } catch (const ErrorIsSet&) {
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const IndexError& error) {
    set_error(PyExc_IndexError, error.what());
  } catch (const ValueError& error) {
    set_error(PyExc_ValueError, error.what());
  } catch (const TypeError& error) {
    set_error(PyExc_TypeError, error.what());
  } catch (const NotImplementedError& error) {
    set_error(PyExc_NotImplementedError, error.what());
  } catch (const LinAlgError& error) {
    set_error(linalg_error_type(), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    set_error(PyExc_RuntimeError, error.what());
  } catch (...) {
    carry(std::current_exception());
  }
}

void rethrow_carried(nanobind::python_error& error) {
  if (!error.matches(carrier_type())) return;
  auto* exception = static_cast<std::exception_ptr*>(
      PyCapsule_GetPointer(nanobind::object(error.value().attr("args"))[0].ptr(), nullptr));
  std::rethrow_exception(*exception);
}

PyTypeObject* add_type(PyObject* module, PyType_Spec* spec, PyObject* base) {
  const Object bases = base ? Object::adopt(PyTuple_Pack(1, base)) : Object();
  Object type = Object::adopt(PyType_FromSpecWithBases(spec, bases.get()));
  check(PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

}  // namespace tenon::python
