// Attributes and calls of tenon.nn.Module. Parameters, buffers and submodules are in dicts.

#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/errors.h"

namespace tenon::python {
namespace {

PyObject* table_names[3];
PyObject* hook_names[4];
PyObject* forward_name;
PyObject* python_call;   ///< Module.__call__
PyObject* global_hooks;  ///< of all modules

/// What __getattr__ of a class would find, without the error that leads to it. That error costs
/// more than a small operator.
PyObject* module_getattro(PyObject* self, PyObject* name) {
  PyObject* const plain = _PyObject_GenericGetAttrWithDict(self, name, nullptr, 1);
  if (plain) return plain;
  if (PyErr_Occurred()) {  // of a property
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
    PyErr_Clear();
  }
  PyObject* const mine = PyObject_GenericGetDict(self, nullptr);
  if (!mine) return nullptr;
  PyObject* found = nullptr;
  for (PyObject* const table_name : table_names) {
    PyObject* const table = PyDict_GetItemWithError(mine, table_name);
    if (table && PyDict_Check(table)) found = PyDict_GetItemWithError(table, name);
    if (found || PyErr_Occurred()) break;
  }
  Py_XINCREF(found);
  Py_DECREF(mine);
  if (!found && !PyErr_Occurred())
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'", Py_TYPE(self)->tp_name,
                 name);
  return found;
}

/// Whether the module is certain to have no hooks.
bool has_no_hooks(PyObject* self) {
  if (PyDict_GET_SIZE(global_hooks) != 0) return false;
  PyObject* const mine = PyObject_GenericGetDict(self, nullptr);
  bool none = mine != nullptr;
  for (PyObject* const name : hook_names) {
    PyObject* const hooks = none ? PyDict_GetItemWithError(mine, name) : nullptr;
    none = hooks && PyDict_Check(hooks) && PyDict_GET_SIZE(hooks) == 0;
  }
  Py_XDECREF(mine);
  PyErr_Clear();
  return none;
}

/// Module.__call__ of a module without hooks: forward(). The function in Python does the rest.
PyObject* module_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  constexpr Py_ssize_t kMost = 8;
  const bool plain = count <= kMost && (!kwargs || PyDict_GET_SIZE(kwargs) == 0);
  if (has_no_hooks(self)) {
    if (!plain) {
      PyObject* const forward = PyObject_GetAttr(self, forward_name);
      PyObject* const result = forward ? PyObject_Call(forward, args, kwargs) : nullptr;
      Py_XDECREF(forward);
      return result;
    }
    PyObject* given[kMost + 1] = {self};
    for (Py_ssize_t i = 0; i < count; ++i) given[i + 1] = PyTuple_GET_ITEM(args, i);
    return PyObject_VectorcallMethod(forward_name, given, static_cast<size_t>(count + 1), nullptr);
  }
  PyObject* const all = PyTuple_New(count + 1);
  if (!all) return nullptr;
  PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
  for (Py_ssize_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
  PyObject* const result = PyObject_Call(python_call, all, kwargs);
  Py_DECREF(all);
  return result;
}

PyTypeObject* class_of(nanobind::handle type) {
  TENON_CHECK_TYPE(PyType_Check(type.ptr()), "expected a class, got ",
                   Py_TYPE(type.ptr())->tp_name);
  return reinterpret_cast<PyTypeObject*>(type.ptr());
}

/// For a class whose __getattr__ is Module's. Python itself takes the function out again if the
/// class or one of its bases is given another one. So it does with the next.
void look_up_in_tables(nanobind::handle type) { class_of(type)->tp_getattro = &module_getattro; }

/// For a class whose __call__ is Module's.
void call_forward(nanobind::handle type) { class_of(type)->tp_call = &module_call; }

void set_module_call(nanobind::handle call, nanobind::handle hooks) {
  TENON_CHECK_TYPE(PyDict_Check(hooks.ptr()), "expected a dict of hooks, got ",
                   Py_TYPE(hooks.ptr())->tp_name);
  python_call = call.inc_ref().ptr();
  global_hooks = hooks.inc_ref().ptr();
}

}  // namespace

void add_module_attributes(nanobind::module_& module) {
  const char* const names[] = {"_parameters", "_buffers", "_modules"};
  for (int i = 0; i < 3; ++i) table_names[i] = PyUnicode_InternFromString(names[i]);
  const char* const hooks[] = {"_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks",
                               "_backward_hooks"};
  for (int i = 0; i < 4; ++i) hook_names[i] = PyUnicode_InternFromString(hooks[i]);
  forward_name = PyUnicode_InternFromString("forward");
  module.def("_look_up_in_tables", &look_up_in_tables);
  module.def("_call_forward", &call_forward);
  module.def("_set_module_call", &set_module_call);
}

}  // namespace tenon::python
