#include <vector>

#include "aten/composite/tensor_index.h"
#include "bindings/python/src/arguments.h"
#include "bindings/python/src/creation.h"
#include "bindings/python/src/operators.h"
#include "bindings/python/src/overrides.h"
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

TensorIndex to_index(PyObject* item) {
  if (item == Py_None) return indexing::None;
  if (item == Py_Ellipsis) return indexing::Ellipsis;
  if (PyBool_Check(item)) return item == Py_True;
  if (is_integer(item)) return Arguments::read_integer(item);
  if (PySlice_Check(item)) {
    const auto* slice = reinterpret_cast<PySliceObject*>(item);
    return indexing::Slice(limit_of(slice->start), limit_of(slice->stop), limit_of(slice->step));
  }
  if (is_tensor(item)) return tensor_of(item);
  TENON_CHECK_INDEX(
      PyList_Check(item) || PyTuple_Check(item) ||
          (PyObject_CheckBuffer(item) && !PyBytes_Check(item)),
      "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
      "indices (got ",
      Py_TYPE(item)->tp_name, ")");
  Tensor index = make_tensor(item, {}, {});
  // An empty list has no numbers that could say what they are.
  return index.numel() == 0 ? index.to(kLong) : index;
}

std::vector<TensorIndex> to_indices(PyObject* index) {
  std::vector<TensorIndex> indices;
  if (!PyTuple_Check(index)) {
    indices.push_back(to_index(index));
    return indices;
  }
  indices.reserve(static_cast<size_t>(PyTuple_GET_SIZE(index)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
    indices.push_back(to_index(PyTuple_GET_ITEM(index, i)));
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
