#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

/// Python's objects from C++.
namespace tenon::python {

/// Thrown where Python's error is set already.
struct ErrorIsSet {};

/// An owned reference to a Python object. Used with the interpreter's lock held.
class Object {
 public:
  Object() = default;
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object(const Object& other) : object_(Py_XNewRef(other.object_)) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  /// Takes over a new reference; null, which means that an error is set, throws.
  static Object adopt(PyObject* object) {
    if (!object) throw ErrorIsSet();
    return Object(object);
  }
  static Object share(PyObject* object) { return adopt(Py_XNewRef(object)); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Object(PyObject* object) : object_(object) {}

  PyObject* object_ = nullptr;
};

/// Throws if a call of Python's C interface has failed.
inline void check(int status) {
  if (status < 0) throw ErrorIsSet();
}

/// Sets Python's error from the C++ exception that is being handled: IndexError, ValueError,
/// TypeError, NotImplementedError as they are, other errors as RuntimeError.
void set_error_from_exception() noexcept;

/// Runs f() and gives its result; a C++ exception becomes Python's error and `failed`.
template <class F, class R>
R guarded(F&& f, R failed) noexcept {
  try {
    return f();
  } catch (...) {
    set_error_from_exception();
    return failed;
  }
}
template <class F>
PyObject* guarded(F&& f) noexcept {
  return guarded(std::forward<F>(f), static_cast<PyObject*>(nullptr));
}

/// Makes a type of Python's and puts it into the module under the last part of its name.
PyTypeObject* add_type(PyObject* module, PyType_Spec* spec, PyObject* base = nullptr);

}  // namespace tenon::python
