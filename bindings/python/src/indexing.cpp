#include "bindings/python/src/arguments.h"
#include "bindings/python/src/operators.h"
#include "tenon/ops/alias.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/fill.h"
#include "tenon/ops/select.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon::python {
namespace {

bool is_basic(PyObject* index) {
  return is_integer(index) || PySlice_Check(index) || index == Py_None || index == Py_Ellipsis ||
         (is_tensor(index) && tensor_of(index).dim() == 0 &&
          is_integral(tensor_of(index).scalar_type(), false));
}

/// The parts of an index: its elements, or itself.
struct Parts {
  explicit Parts(PyObject* index) {
    if (PyTuple_Check(index)) {
      items = PySequence_Fast_ITEMS(index);
      count = PyTuple_GET_SIZE(index);
    } else {
      single = index;
    }
  }
  PyObject* operator[](Py_ssize_t i) const { return items ? items[i] : single; }

  PyObject** items = nullptr;
  PyObject* single = nullptr;
  Py_ssize_t count = 1;
};

Tensor sliced(const Tensor& self, int64_t dim, PyObject* slice) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  check(PySlice_Unpack(slice, &start, &stop, &step));
  TENON_CHECK_VALUE(step > 0, "step must be greater than zero");
  if (start == 0 && stop == PY_SSIZE_T_MAX && step == 1) return self;
  return ops::slice_Tensor::call(self, dim, start, stop, step);
}

/// The view that an index of integers, slices, None and Ellipsis selects.
Tensor view_of(const Tensor& self, const Parts& parts) {
  int64_t consumed = 0;
  for (Py_ssize_t i = 0; i < parts.count; ++i) {
    TENON_CHECK_INDEX(is_basic(parts[i]),
                      "only integers, slices (`:`), ellipsis (`...`) and None are "
                      "valid indices here, got ",
                      Py_TYPE(parts[i])->tp_name);
    consumed += parts[i] != Py_None && parts[i] != Py_Ellipsis;
  }
  TENON_CHECK_INDEX(consumed <= self.dim(), "too many indices for tensor of dimension ",
                    self.dim());
  Tensor result = self;
  int64_t dim = 0;
  for (Py_ssize_t i = 0; i < parts.count; ++i) {
    PyObject* const part = parts[i];
    if (part == Py_None) {
      result = unsqueeze(result, dim++);
    } else if (part == Py_Ellipsis) {
      dim += self.dim() - consumed;
    } else if (PySlice_Check(part)) {
      result = sliced(result, dim++, part);
    } else {
      TENON_CHECK_INDEX(result.dim() > 0, "invalid index of a 0-dim tensor; use item() to read it");
      result = ops::select_int::call(result, dim, Arguments::read_integer(part));
    }
  }
  return result;
}

}  // namespace

PyObject* tensor_subscript(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    if (PyLong_CheckExact(index)) {
      TENON_CHECK_INDEX(t.dim() > 0, "invalid index of a 0-dim tensor; use item() to read it");
      return wrap(ops::select_int::call(t, 0, Arguments::read_integer(index)));
    }
    Tensor result = view_of(t, Parts(index));
    // A view of its own, as any other index gives.
    if (result.is_same(t)) result = alias(t);
    return wrap(std::move(result));
  });
}

int tensor_assign(PyObject* self, PyObject* index, PyObject* value) {
  return guarded(
      [&]() -> int {
        TENON_CHECK_TYPE(value, "Tensor does not support deleting items");
        Tensor view = view_of(tensor_of(self), Parts(index));
        if (is_tensor(value)) {
          view.copy_(tensor_of(value));
        } else {
          TENON_CHECK_TYPE(is_number(value), "can't assign a ", Py_TYPE(value)->tp_name,
                           " to a Tensor");
          view.fill_(Arguments::read_scalar(value));
        }
        return 0;
      },
      -1);
}

}  // namespace tenon::python
