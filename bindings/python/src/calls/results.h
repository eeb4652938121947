#pragma once

#include <tuple>
#include <vector>

#include "aten/dispatch/operator_types.h"
#include "bindings/python/src/tensor_object.h"

/// What an operator returns, in Python.
namespace tenon::python {

PyObject* wrap(const Scalar& value);
/// A tuple.
PyObject* wrap(const std::vector<Tensor>& tensors);
inline PyObject* none() { return Py_NewRef(Py_None); }
inline PyObject* wrap(bool value) { return PyBool_FromLong(value); }
inline PyObject* wrap(int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* wrap(double value) { return PyFloat_FromDouble(value); }

/// The named tuple of an operator's results: tenon.return_types.max with fields values, indices.
struct ResultType {
  const char* operator_name;
  const char* fields[8];
  PyTypeObject* type = nullptr;  ///< made when first needed
};
/// Takes over the `count` values, also when it throws.
PyObject* make_result(ResultType& type, PyObject* const* values, size_t count);
/// A plain tuple, likewise.
PyObject* make_tuple(PyObject* const* values, size_t count);

template <class... T>
PyObject* wrap(std::tuple<T...> results) {
  return std::apply(
      [](auto&... one) {
        PyObject* const values[] = {wrap(std::move(one))...};
        return make_tuple(values, sizeof...(T));
      },
      results);
}
template <class... T>
PyObject* wrap_named(ResultType& type, std::tuple<T...> results) {
  return std::apply(
      [&](auto&... one) {
        PyObject* const values[] = {wrap(std::move(one))...};
        return make_result(type, values, sizeof...(T));
      },
      results);
}

}  // namespace tenon::python
