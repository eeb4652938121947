#include <vector>

#include "aten/generated_support/tensor_index.h"
#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/operators.h"
#include "bindings/python/src/calls/overrides.h"
#include "bindings/python/src/creation.h"
#include "bindings/python/src/numpy_objects.h"
#include "tenon/ops/select.h"

namespace tenon::python {
namespace {

using indexing::TensorIndex;

std::optional<int64_t> limit_of(PyObject* value) {
  if (value == Py_None) return std::nullopt;
  const Object number = Object::adopt(PyNumber_Index(value));
  int overflow = 0;
  const int64_t limit = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  // A slice's limits may be beyond any size.
  return overflow == 0 ? limit : overflow > 0 ? INT64_MAX : INT64_MIN;
}

bool is_mask(const Tensor& index) {
  return index.scalar_type() == kBool || index.scalar_type() == kByte;
}

/// A mask of bytes becomes one of bools, with the warning that Python's users know.
Tensor warned_of(const Tensor& index) {
  if (index.scalar_type() == kByte && index.dim() > 0) {
    check(PyErr_WarnEx(PyExc_UserWarning,
                       "indexing with dtype tenon.uint8 is now deprecated, please use a dtype "
                       "tenon.bool instead.",
                       1));
    return index.to(kBool);
  }
  return index;
}

TensorIndex to_index(PyObject* item) {
  if (item == Py_None) return indexing::None;
  if (item == Py_Ellipsis) return indexing::Ellipsis;
  if (PyBool_Check(item)) return item == Py_True;
  if (is_integer(item)) return Arguments::read_integer(item);
  if (PySlice_Check(item)) {
    const auto* slice = reinterpret_cast<PySliceObject*>(item);
    return indexing::Slice(limit_of(slice->start), limit_of(slice->stop), limit_of(slice->step));
  }
  if (is_tensor(item)) return warned_of(tensor_of(item));
  const bool is_array = PyObject_CheckBuffer(item) && is_numpy(item, "ndarray");
  TENON_CHECK_INDEX(
      is_array || (PySequence_Check(item) && !PyUnicode_Check(item) && !PyBytes_Check(item)),
      "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
      "indices (got ",
      Py_TYPE(item)->tp_name, ")");
  const Tensor index = make_tensor(item, {}, {});
  // Numbers of a sequence lose their fractions, and an empty one has none.
  return is_array || is_mask(index) ? warned_of(index) : index.to(kLong);
}

/// Indices in a list that holds more than numbers are those of several dimensions, unless there are
/// 32 or more: the rule that numpy had.
bool counts_as_tuple(PyObject* index) {
  constexpr Py_ssize_t kMost = 32;
  if (PyTuple_Check(index)) return true;
  if (is_tensor(index) || !PySequence_Check(index) || PyUnicode_Check(index) ||
      PyObject_CheckBuffer(index)) {
    return false;
  }
  const Py_ssize_t size = PySequence_Size(index);
  if (size < 0) PyErr_Clear();
  for (Py_ssize_t i = 0; i < size && size < kMost; ++i) {
    const Object item = Object::adopt(PySequence_GetItem(index, i));
    PyObject* const one = item.get();
    if (is_tensor(one) || PySequence_Check(one) || PySlice_Check(one) || one == Py_Ellipsis ||
        one == Py_None) {
      check(PyErr_WarnEx(PyExc_UserWarning,
                         "Using a non-tuple sequence for multidimensional indexing is deprecated: "
                         "use x[tuple(seq)] instead of x[seq].",
                         1));
      return true;
    }
  }
  return false;
}

std::vector<TensorIndex> to_indices(PyObject* index) {
  std::vector<TensorIndex> indices;
  if (!counts_as_tuple(index)) {
    indices.push_back(to_index(index));
    return indices;
  }
  const Object items = Object::adopt(PySequence_Tuple(index));
  indices.reserve(static_cast<size_t>(PyTuple_GET_SIZE(items.get())));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    indices.push_back(to_index(PyTuple_GET_ITEM(items.get(), i)));
  }
  return indices;
}

}  // namespace

PyObject* tensor_subscript(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (has_override(self) || has_override(index))
      return call_override("__getitem__", {self, index});
    const Tensor& t = tensor_of(self);
    if (PyLong_CheckExact(index)) {
      TENON_CHECK_INDEX(t.dim() > 0,
                        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert "
                        "a 0-dim tensor to a number");
      return wrap(ops::select_int::call(t, 0, Arguments::read_integer(index)));
    }
    const auto indices = to_indices(index);
    return wrap([&] {
      const Unlocked unlocked(t.numel() >= kElementsToUnlock);
      return indexing::get_item(t, indices);
    }());
  });
}

int tensor_assign(PyObject* self, PyObject* index, PyObject* value) {
  return guarded(
      [&]() -> int {
        TENON_CHECK_TYPE(value, "Tensor does not support deleting items");
        if (has_override(self) || has_override(index) || has_override(value)) {
          Object::adopt(call_override("__setitem__", {self, index, value}));
          return 0;
        }
        const Tensor& t = tensor_of(self);
        const auto indices = to_indices(index);
        if (!is_tensor(value) && is_number(value)) {
          const Scalar number = Arguments::read_scalar(value);
          const Unlocked unlocked(t.numel() >= kElementsToUnlock);
          indexing::set_item(t, indices, number);
          return 0;
        }
        TENON_CHECK_TYPE(is_tensor(value) || PyList_Check(value) || PyTuple_Check(value) ||
                             PyObject_CheckBuffer(value),
                         "can't assign a ", Py_TYPE(value)->tp_name, " to a tensor");
        const Tensor source =
            is_tensor(value) ? tensor_of(value) : make_tensor(value, t.scalar_type(), t.device());
        const Unlocked unlocked(t.numel() >= kElementsToUnlock);
        indexing::set_item(t, indices, source);
        return 0;
      },
      -1);
}

}  // namespace tenon::python
