#include "bindings/python/src/calls/overrides.h"

#include <string>
#include <unordered_map>

#include "bindings/python/src/calls/arguments.h"

namespace tenon::python {
namespace {

/// How many DisableTorchFunctionSubclass this thread is in.
thread_local int disabled_depth = 0;
PyObject* disabled_implementation = nullptr;

PyObject* torch_function_name() {
  static PyObject* const name = PyUnicode_InternFromString("__torch_function__");
  return name;
}

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
    {},
};

}  // namespace

bool has_override_slow(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || object == Py_None ||
      disabled_depth > 0) {
    return false;
  }
  PyObject* const found = _PyType_Lookup(type, torch_function_name());
  if (!found || found == disabled_implementation) return false;
  return is_tensor(object) || !is_pytorchs(object);
}

void Overriding::add(PyObject* object) {
  if (PyTuple_Check(object) || PyList_Check(object)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      PyObject* const item = PySequence_Fast_GET_ITEM(object, i);
      if (!PyTuple_Check(item) && !PyList_Check(item)) add(item);
    }
    return;
  }
  if (!has_override(object)) return;
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
  PyType_Slot slots[] = {
      {Py_tp_methods, disable_methods},
      {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
      {0, nullptr},
  };
  PyType_Spec spec = {"tenon._C._DisableTorchFunctionSubclass", sizeof(PyObject), 0,
                      Py_TPFLAGS_DEFAULT, slots};
  add_type(module, &spec);
}

}  // namespace tenon::python
