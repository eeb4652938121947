#include "bindings/python/src/calls/overrides.h"

#include <string>
#include <unordered_map>

#include "aten/common/thread_value.h"
#include "bindings/python/src/calls/arguments.h"

namespace tenon::python {

int function_mode_count = 0;

namespace {

/// How many DisableTorchFunctionSubclass and DisableTorchFunction this thread is in.
thread_local int disabled_depth = 0;
/// How many DisableTorchFunction, which modes heed too.
thread_local int all_disabled_depth = 0;
/// The thread's modes, the innermost last. While a mode's function runs, the mode is not in it.
thread_local ThreadValue<std::vector<PyObject*>> function_modes;
PyObject* disabled_implementation = nullptr;

PyObject* torch_function_name() {
  static PyObject* const name = PyUnicode_InternFromString("__torch_function__");
  return name;
}

bool mode_is_active() {
  return function_mode_count != 0 && !function_modes->empty() && all_disabled_depth == 0;
}

void push_function_mode(PyObject* mode) {
  function_modes->push_back(Py_NewRef(mode));
  ++function_mode_count;
}

Object pop_function_mode() {
  TENON_CHECK(!function_modes->empty(), "no mode of __torch_function__ is active on this thread");
  Object mode = Object::adopt(function_modes->back());
  function_modes->pop_back();
  --function_mode_count;
  return mode;
}

/// The innermost mode, which is not active until the end of the scope.
class PoppedFunctionMode {
 public:
  PoppedFunctionMode() : mode_(pop_function_mode()) {}
  ~PoppedFunctionMode() { push_function_mode(mode_.get()); }
  PoppedFunctionMode(const PoppedFunctionMode&) = delete;
  PoppedFunctionMode& operator=(const PoppedFunctionMode&) = delete;

  PyObject* get() const { return mode_.get(); }

 private:
  Object mode_;
};

/// PyTorch's own tensors have a __torch_function__ that knows nothing of our functions.
bool is_pytorchs(PyObject* object) {
  const Object name = Object::adopt(PyUnicode_FromString("torch"));
  PyObject* const found = PyImport_GetModule(name.get());
  if (!found) {
    PyErr_Clear();
    return false;
  }
  const Object module = Object::adopt(found);
  PyObject* const type = PyObject_GetAttrString(module.get(), "Tensor");
  if (!type) {
    PyErr_Clear();  // it is being imported
    return false;
  }
  const Object tensor = Object::adopt(type);
  const int is = PyObject_IsInstance(object, tensor.get());
  check(is);
  return is;
}

std::unordered_map<const Function*, PyObject*>& callables() {
  static auto& map = *new std::unordered_map<const Function*, PyObject*>;
  return map;
}

/// Which function or method of Python's a Function is.
Object callable_of(const Function& function, bool is_method) {
  if (is_method) {
    return Object::adopt(
        PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), function.name));
  }
  const auto known = callables().find(&function);
  if (known != callables().end()) return Object::share(known->second);
  Object module = Object::adopt(PyImport_ImportModule("tenon._C"));
  for (const FunctionEntry* const* list = kGeneratedFunctions; *list; ++list) {
    for (const FunctionEntry* entry = *list; entry->name; ++entry) {
      if (entry->function != &function || !*entry->module) continue;
      const std::string name = std::string("_") + entry->module;
      module = Object::adopt(PyObject_GetAttrString(module.get(), name.c_str()));
      return Object::adopt(PyObject_GetAttrString(module.get(), entry->name));
    }
  }
  return Object::adopt(PyObject_GetAttrString(module.get(), function.name));
}

[[noreturn]] void raise_nobody(const std::string& name) {
  throw TypeError("no implementation found for '" + name +
                  "': every __torch_function__ of its arguments returned NotImplemented");
}

Object pack(PyObject* first, PyObject* const* args, Py_ssize_t count) {
  Object tuple = Object::adopt(PyTuple_New(count + (first ? 1 : 0)));
  Py_ssize_t at = 0;
  if (first) PyTuple_SET_ITEM(tuple.get(), at++, Py_NewRef(first));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple.get(), at++, Py_NewRef(args[i]));
  return tuple;
}

PyObject* call_attribute(const char* name, const char* accessor,
                         std::initializer_list<PyObject*> args) {
  Overriding overriding;
  overriding.add(*args.begin());
  const Object attribute =
      Object::adopt(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
  const Object function = Object::adopt(PyObject_GetAttrString(attribute.get(), accessor));
  const Object tuple = pack(nullptr, args.begin(), static_cast<Py_ssize_t>(args.size()));
  PyObject* const result = overriding.call(function.get(), tuple.get(), nullptr);
  if (!result) raise_nobody(std::string("Tensor.") + name + "." + accessor);
  return result;
}

// ---- in Python ----

PyObject* enter_disabled(PyObject* self, PyObject*) {
  ++disabled_depth;
  return Py_NewRef(self);
}
PyObject* exit_disabled(PyObject*, PyObject*) {
  if (disabled_depth > 0) --disabled_depth;
  Py_RETURN_NONE;
}
PyMethodDef disable_methods[] = {
    {"__enter__", enter_disabled, METH_NOARGS, nullptr},
    {"__exit__", exit_disabled, METH_VARARGS, nullptr},
    {},
};

PyObject* enter_all_disabled(PyObject* self, PyObject*) {
  ++all_disabled_depth;
  return enter_disabled(self, nullptr);
}
PyObject* exit_all_disabled(PyObject* self, PyObject*) {
  if (all_disabled_depth > 0) --all_disabled_depth;
  return exit_disabled(self, nullptr);
}
PyMethodDef disable_all_methods[] = {
    {"__enter__", enter_all_disabled, METH_NOARGS, nullptr},
    {"__exit__", exit_all_disabled, METH_VARARGS, nullptr},
    {},
};

PyObject* push_mode_python(PyObject*, PyObject* mode) {
  return guarded([&] {
    push_function_mode(mode);
    return Py_NewRef(Py_None);
  });
}
PyObject* pop_mode_python(PyObject*, PyObject*) {
  return guarded([&] { return pop_function_mode().release(); });
}
PyObject* count_modes_python(PyObject*, PyObject*) {
  return PyLong_FromSize_t(function_modes->size());
}
PyObject* mode_at_python(PyObject*, PyObject* index) {
  return guarded([&] {
    const size_t i = PyLong_AsSize_t(index);
    if (PyErr_Occurred()) throw ErrorIsSet();
    TENON_CHECK_INDEX(i < function_modes->size(), "there are ", function_modes->size(),
                      " modes, no mode ", i);
    return Py_NewRef((*function_modes)[i]);
  });
}
PyObject* mode_enabled_python(PyObject*, PyObject*) { return PyBool_FromLong(mode_is_active()); }

/// func(*args, **kwargs), as if no class took calls: the __torch_function__ of a class that does
/// not.
PyObject* disabled_torch_function(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *function = nullptr, *types = nullptr, *arguments = nullptr, *keywords = nullptr;
    if (!PyArg_ParseTuple(args, "OO|OO", &function, &types, &arguments, &keywords)) {
      throw ErrorIsSet();
    }
    const Object tuple =
        arguments ? Object::adopt(PySequence_Tuple(arguments)) : Object::adopt(PyTuple_New(0));
    ++disabled_depth;
    PyObject* const result =
        PyObject_Call(function, tuple.get(), keywords == Py_None ? nullptr : keywords);
    --disabled_depth;
    return result;
  });
}

PyObject* has_torch_function(PyObject*, PyObject* objects) {
  return guarded([&] {
    Overriding overriding;
    overriding.add(objects);
    return PyBool_FromLong(static_cast<bool>(overriding));
  });
}

/// _call_override(function, relevant arguments, args, kwargs, name)
PyObject* call_override_python(PyObject*, PyObject* all) {
  return guarded([&] {
    PyObject *function = nullptr, *relevant = nullptr, *args = nullptr, *keywords = nullptr;
    const char* name = nullptr;
    if (!PyArg_ParseTuple(all, "OOO!O!s", &function, &relevant, &PyTuple_Type, &args, &PyDict_Type,
                          &keywords, &name)) {
      throw ErrorIsSet();
    }
    Overriding overriding;
    overriding.add(relevant);
    PyObject* const result = overriding.call(function, args, keywords);
    if (!result) raise_nobody(name);
    return result;
  });
}

PyMethodDef override_functions[] = {
    {"_disabled_torch_function_impl", disabled_torch_function, METH_VARARGS, nullptr},
    {"_has_torch_function", has_torch_function, METH_O, nullptr},
    {"_call_override", call_override_python, METH_VARARGS, nullptr},
    {"_push_on_torch_function_stack", push_mode_python, METH_O, nullptr},
    {"_pop_torch_function_stack", pop_mode_python, METH_NOARGS, nullptr},
    {"_len_torch_function_stack", count_modes_python, METH_NOARGS, nullptr},
    {"_get_function_stack_at", mode_at_python, METH_O, nullptr},
    {"_is_torch_function_mode_enabled", mode_enabled_python, METH_NOARGS, nullptr},
    {},
};

bool class_takes_calls(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || object == Py_None ||
      disabled_depth > 0) {
    return false;
  }
  PyObject* const found = _PyType_Lookup(type, torch_function_name());
  if (!found || found == disabled_implementation) return false;
  return is_tensor(object) || !is_pytorchs(object);
}

/// A tuple or list, and none of a class that takes calls, such as a named tuple of tensors.
bool is_plain_list(PyObject* object) {
  return (PyTuple_Check(object) || PyList_Check(object)) &&
         (PyTuple_CheckExact(object) || PyList_CheckExact(object) || !class_takes_calls(object));
}

}  // namespace

void disable_inherited_torch_function(PyTypeObject* type) {
  PyObject* const name = torch_function_name();
  if (_PyType_Lookup(type, name) != _PyType_Lookup(tensor_type, name)) return;
  check(PyObject_SetAttr(reinterpret_cast<PyObject*>(type), name, disabled_implementation));
}

bool has_override_slow(PyObject* object) {
  return mode_is_active() || (!is_exact_tensor(object) && class_takes_calls(object));
}

Overriding::Overriding() : by_mode_(mode_is_active()) {}

void Overriding::add(PyObject* object) {
  if (is_plain_list(object)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      PyObject* const item = PySequence_Fast_GET_ITEM(object, i);
      if (!is_plain_list(item)) add(item);
    }
    return;
  }
  if (is_exact_tensor(object) || !class_takes_calls(object)) return;
  auto place = objects_.end();
  for (auto i = objects_.begin(); i != objects_.end(); ++i) {
    if (Py_TYPE(*i) == Py_TYPE(object)) return;
    if (place == objects_.end() && PyType_IsSubtype(Py_TYPE(object), Py_TYPE(*i))) place = i;
  }
  objects_.insert(place, object);
}

PyObject* Overriding::call(PyObject* function, PyObject* args, PyObject* keywords) const {
  const Object types = Object::adopt(PyTuple_New(static_cast<Py_ssize_t>(objects_.size())));
  std::vector<Object> kept;  // what a handler does may let go of the others
  for (size_t i = 0; i < objects_.size(); ++i) {
    auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(objects_[i]));
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i), Py_NewRef(type));
    kept.push_back(Object::share(objects_[i]));
  }
  const Object named = keywords ? Object::share(keywords) : Object::adopt(PyDict_New());
  if (by_mode_) {
    const PoppedFunctionMode mode;
    const Object handler = Object::adopt(PyObject_GetAttr(mode.get(), torch_function_name()));
    Object result = Object::adopt(PyObject_CallFunctionObjArgs(handler.get(), function, types.get(),
                                                               args, named.get(), nullptr));
    if (result.get() != Py_NotImplemented) return result.release();
  }
  for (const Object& object : kept) {
    const Object handler = Object::adopt(PyObject_GetAttr(object.get(), torch_function_name()));
    Object result = Object::adopt(PyObject_CallFunctionObjArgs(handler.get(), function, types.get(),
                                                               args, named.get(), nullptr));
    if (result.get() != Py_NotImplemented) return result.release();
  }
  return nullptr;
}

PyObject* call_override(const Function& function, PyObject* self, PyObject* const* args,
                        Py_ssize_t count, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  Overriding overriding;
  if (self) overriding.add(self);
  for (Py_ssize_t i = 0; i < count + named; ++i) overriding.add(args[i]);
  if (!overriding) return nullptr;
  const Object callable = callable_of(function, self != nullptr);
  const Object tuple = pack(self, args, count);
  const Object keywords = Object::adopt(PyDict_New());
  for (Py_ssize_t i = 0; i < named; ++i) {
    check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i), args[count + i]));
  }
  PyObject* const result = overriding.call(callable.get(), tuple.get(), keywords.get());
  if (!result) raise_nobody(std::string(self ? "Tensor." : "") + function.name);
  return result;
}

void set_callable(const Function& function, PyObject* callable) {
  callables().emplace(&function, Py_NewRef(callable));
}

PyObject* call_override(const char* name, std::initializer_list<PyObject*> args, bool is_operator) {
  Overriding overriding;
  for (PyObject* one : args) overriding.add(one);
  const Object function =
      Object::adopt(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
  const Object tuple = pack(nullptr, args.begin(), static_cast<Py_ssize_t>(args.size()));
  PyObject* const result = overriding.call(function.get(), tuple.get(), nullptr);
  if (result) return result;
  if (is_operator) Py_RETURN_NOTIMPLEMENTED;
  raise_nobody(std::string("Tensor.") + name);
}

PyObject* get_by_override(const char* name, PyObject* self) {
  return call_attribute(name, "__get__", {self});
}

void set_by_override(const char* name, PyObject* self, PyObject* value) {
  // Deleting is setting to None.
  Object::adopt(call_attribute(name, "__set__", {self, value ? value : Py_None}));
}

void add_overrides(PyObject* module) {
  check(PyModule_AddFunctions(module, override_functions));
  disabled_implementation =
      Object::adopt(PyObject_GetAttrString(module, "_disabled_torch_function_impl")).release();
  const auto add_scope = [&](const char* name, PyMethodDef* methods) {
    PyType_Slot slots[] = {
        {Py_tp_methods, methods},
        {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
        {0, nullptr},
    };
    PyType_Spec spec = {name, sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
    add_type(module, &spec);
  };
  add_scope("tenon._C._DisableTorchFunctionSubclass", disable_methods);
  add_scope("tenon._C._DisableTorchFunction", disable_all_methods);
}

}  // namespace tenon::python
