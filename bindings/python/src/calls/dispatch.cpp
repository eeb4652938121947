#include "bindings/python/src/calls/dispatch.h"

#include <memory>
#include <string>
#include <vector>

#include "aten/common/thread_value.h"
#include "aten/dispatch/registration.h"
#include "aten/registration/library.h"
#include "aten/registration/typed_operator.h"
#include "autograd/engine/engine.h"
#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/dispatch_arguments.h"
#include "bindings/python/src/calls/operators.h"
#include "bindings/python/src/calls/shown_operators.h"

namespace tenon::python {
namespace {

PyObject* dispatch_name() {
  static PyObject* const name = PyUnicode_InternFromString("__torch_dispatch__");
  return name;
}

/// The implementation of classes that take no calls.
PyObject* disabled_dispatch = nullptr;

// ---- modes ----

/// The thread's modes, the innermost last. While a mode's function runs, the mode is not in it.
thread_local ThreadValue<std::vector<PyObject*>> modes;

void enable_modes() {
  const uint8_t bit = DispatchKeySet(DispatchLayer::PythonMode).layers;
  thread_state.enabled_layers =
      static_cast<uint8_t>((thread_state.enabled_layers & ~bit) | (modes->empty() ? 0 : bit));
  thread_state.refresh();
}

void push_mode(nb::handle mode) {
  register_dispatch();
  modes->push_back(Py_NewRef(mode.ptr()));
  enable_modes();
}

nb::object pop_mode() {
  keep_result(nullptr);
  TENON_CHECK(!modes->empty(), "no mode of __torch_dispatch__ is active on this thread");
  nb::object mode = nb::steal(modes->back());
  modes->pop_back();
  enable_modes();
  return mode;
}

/// The innermost mode, which is not active until the end of the scope.
class PoppedMode {
 public:
  PoppedMode() : mode_(pop_mode()) {}
  ~PoppedMode() { push_mode(mode_); }
  PoppedMode(const PoppedMode&) = delete;
  PoppedMode& operator=(const PoppedMode&) = delete;

  nb::handle get() const { return mode_; }

 private:
  nb::object mode_;
};

// ---- classes ----

/// The tensors of a call whose classes take it: one of each class, subclasses first.
class Dispatching {
 public:
  explicit Dispatching(const std::vector<nb::object>& values) {
    for (const nb::object& value : values) add(value.ptr());
  }
  const std::vector<PyObject*>& objects() const { return objects_; }
  nb::object types() const {
    nb::object types = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(objects_.size())));
    for (size_t i = 0; i < objects_.size(); ++i) {
      PyTuple_SET_ITEM(types.ptr(), static_cast<Py_ssize_t>(i),
                       Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(objects_[i]))));
    }
    return types;
  }

 private:
  void add(PyObject* object) {
    if (PyList_Check(object)) {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i) add(PyList_GET_ITEM(object, i));
      return;
    }
    if (!is_tensor(object) || is_exact_tensor(object) || !has_dispatch(Py_TYPE(object))) return;
    auto place = objects_.end();
    for (auto i = objects_.begin(); i != objects_.end(); ++i) {
      if (Py_TYPE(*i) == Py_TYPE(object)) return;
      if (place == objects_.end() && PyType_IsSubtype(Py_TYPE(object), Py_TYPE(*i))) place = i;
    }
    objects_.insert(place, object);
  }

  std::vector<PyObject*> objects_;
};

nb::object call_handler(nb::handle owner, nb::handle function, nb::handle types,
                        const CallArguments& arguments) {
  const nb::object handler = nb::steal(PyObject_GetAttr(owner.ptr(), dispatch_name()));
  if (!handler) throw nb::python_error();
  PyObject* const result =
      PyObject_CallFunctionObjArgs(handler.ptr(), function.ptr(), types.ptr(), arguments.args.ptr(),
                                   arguments.keywords.ptr(), nullptr);
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

[[noreturn]] void raise_nobody(nb::handle function, const Dispatching& dispatching,
                               nb::handle mode) {
  const nb::str module(nb::handle(function.attr("__module__")));
  const nb::str name(nb::handle(function.attr("__name__")));
  std::string text = std::string("Multiple dispatch failed for '") + module.c_str() + "." +
                     name.c_str() +
                     "'; all __torch_dispatch__ handlers returned NotImplemented:\n\n";
  if (mode) text += std::string("  - mode object ") + nb::repr(mode).c_str() + "\n";
  for (PyObject* object : dispatching.objects()) {
    const auto type = reinterpret_cast<PyObject*>(Py_TYPE(object));
    text += std::string("  - tensor subclass ") + nb::repr(nb::handle(type)).c_str() + "\n";
  }
  text += "\nFor more information, try re-running with TORCH_LOGS=not_implemented";
  PyErr_SetString(not_dispatched_error(), text.c_str());
  throw nb::python_error();
}

void check_is_method(nb::handle mode) {
  const nb::object handler = nb::getattr(mode, dispatch_name());
  TENON_CHECK(!PyMethod_Check(handler.ptr()) || !PyType_Check(PyMethod_GET_SELF(handler.ptr())),
              "Defining your mode's `__torch_dispatch__` as a classmethod is not supported, please "
              "make it a plain method");
}

nb::object call_python(const OperatorEntry& op, const CallArguments& arguments, bool by_mode) {
  const nb::object function = overload_object(op);
  const Dispatching dispatching(arguments.tensors);
  const nb::object types = dispatching.types();
  nb::object mode;
  if (by_mode) {
    const PoppedMode popped;
    mode = nb::borrow(popped.get());
    check_is_method(mode);
    nb::object result = call_handler(mode, function, types, arguments);
    if (result.ptr() != Py_NotImplemented) return result;
  }
  for (PyObject* object : dispatching.objects()) {
    nb::object result = call_handler(object, function, types, arguments);
    if (result.ptr() != Py_NotImplemented) return result;
  }
  raise_nobody(function, dispatching, mode);
}

/// Changes of what a call writes count once, whoever counted them.
class WrittenVersions {
 public:
  WrittenVersions(const schema::FunctionSchema& schema, const Value* arguments) {
    for (size_t i = 0; i < schema.args.size(); ++i) {
      if (!schema.args[i].is_mutable()) continue;
      if (arguments[i].is_tensor()) add(arguments[i].to_tensor());
      if (!arguments[i].is_tensor_list()) continue;
      for (const TensorBase& t : arguments[i].to_tensors()) add(t);
    }
  }
  void count() const {
    for (const auto& [tensor, version] : written_) {
      TensorImpl& impl = *tensor.unsafe_impl();
      if (impl.version() == version) impl.bump_version();
    }
  }

 private:
  void add(const TensorBase& t) {
    if (t.defined() && !t.is_inference()) written_.emplace_back(t, t.unsafe_impl()->version());
  }
  std::vector<std::pair<TensorBase, uint32_t>> written_;
};

/// The kernel of both layers, for every operator.
void run_in_python(DispatchLayer layer, const OperatorEntry& op, DispatchKeySet keys,
                   Stack& stack) {
  const bool by_mode = layer == DispatchLayer::PythonMode;
  if (by_mode && modes->empty()) return redispatch_boxed(op, keys.remove(layer), stack);
  const nb::gil_scoped_acquire locked;
  keep_result(nullptr);
  const auto schema = schema_of(op);
  const size_t first = stack.size() - schema->args.size();
  const WrittenVersions written(*schema, stack.data() + first);
  nb::object result;
  try {
    const ExcludeLayers exclude(DispatchKeySet(DispatchLayer::Autograd).layers |
                                DispatchKeySet(DispatchLayer::ForwardGrad).layers);
    const CallArguments arguments = to_python_arguments(op, *schema, stack.data() + first);
    result = call_python(op, arguments, by_mode);
  } catch (nb::python_error& error) {
    rethrow_carried(error);
    throw;
  }
  written.count();
  const std::vector<Value> kept(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  stack.resize(first);
  read_python_results(op, *schema, result, kept, stack);
  // Not for a gradient, which becomes grad() itself if nobody else has it.
  if (is_tensor(result.ptr()) && autograd::current_pass_id() < 0) keep_result(result.ptr());
}

BoxedKernel kernel_of(DispatchLayer layer) {
  return [layer](const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
    run_in_python(layer, op, keys, stack);
  };
}

// ---- in Python ----

/// func(*args, **kwargs) below the classes: the `__torch_dispatch__` of a class that takes no
/// calls.
PyObject* disabled_torch_dispatch(PyObject*, PyObject* all) {
  return guarded([&] {
    PyObject *function = nullptr, *types = nullptr, *arguments = nullptr, *keywords = nullptr;
    if (!PyArg_ParseTuple(all, "OO|OO", &function, &types, &arguments, &keywords)) {
      throw ErrorIsSet();
    }
    const Object tuple =
        arguments ? Object::adopt(PySequence_Tuple(arguments)) : Object::adopt(PyTuple_New(0));
    const ExcludeLayers exclude(DispatchLayer::Python);
    return PyObject_Call(function, tuple.get(), keywords == Py_None ? nullptr : keywords);
  });
}

PyMethodDef dispatch_functions[] = {
    {"_disabled_torch_dispatch_impl", disabled_torch_dispatch, METH_VARARGS,
     "The __torch_dispatch__ of a class that takes no calls."},
    {},
};

/// A scope of WithoutDispatch for Python.
struct DispatchScope {
  std::vector<std::shared_ptr<WithoutDispatch>> guards;
};

/// Calls inside the scope are recorded again, as those of a program are.
struct ReentrantScope {
  std::vector<uint8_t> excluded;
};

TensorBase detach_as_operator(const TensorBase& self) {
  const ExcludeLayers exclude(DispatchLayer::Autograd);
  static const auto op = get_operator("aten::detach").typed<Tensor(const Tensor&)>();
  Tensor detached = op(Tensor(self));
  // They count their changes together, though they do not share memory that is known here.
  if (detached.defined() && !detached.is_same(self) && !detached.is_view() &&
      !detached.unsafe_impl()->shared_version && !self.is_inference())
    self.unsafe_impl()->share_version_with(*detached.unsafe_impl());
  return detached;
}

}  // namespace

PyObject* not_dispatched_error() {
  static PyObject* const type = PyErr_NewException("builtins.TypeError", PyExc_TypeError, nullptr);
  return type;
}

Tensor lift_fresh(const Tensor& self) {
  static const auto op = get_operator("aten::lift_fresh").typed<Tensor(const Tensor&)>();
  return op(self);
}

bool has_dispatch(PyTypeObject* type) {
  if (type == tensor_type) return false;
  PyObject* const found = _PyType_Lookup(type, dispatch_name());
  return found && found != disabled_dispatch;
}

void register_dispatch() {
  static const bool done = [] {
    const auto serves = +[](const OperatorEntry& op) { return shown_to_python(op); };
    compose_operators();
    tenon::detail::add_fallback(DispatchKey::Python, kernel_of(DispatchLayer::Python), __FILE__,
                                serves);
    tenon::detail::add_fallback(DispatchKey::PythonMode, kernel_of(DispatchLayer::PythonMode),
                                __FILE__, serves);
    return true;
  }();
  static_cast<void>(done);
}

void add_dispatch(nb::module_& module) {
  check(PyModule_AddFunctions(module.ptr(), dispatch_functions));
  disabled_dispatch = nb::object(module.attr("_disabled_torch_dispatch_impl")).release().ptr();
  check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), "__torch_dispatch__",
                               disabled_dispatch));
  define_shown_operators();
  static const PythonHooks hooks{&detach_as_operator, &release_object};
  set_python_hooks(&hooks);
  module.def("_push_on_torch_dispatch_stack", &push_mode);
  module.def(
      "_pop_torch_dispatch_stack", [](nb::handle) { return pop_mode(); },
      nb::arg("mode_key").none() = nb::none());
  module.def("_len_torch_dispatch_stack", [] { return modes->size(); });
  module.def("_get_dispatch_stack_at", [](size_t i) {
    TENON_CHECK_INDEX(i < modes->size(), "there are ", modes->size(), " modes, no mode ", i);
    return nb::borrow((*modes)[i]);
  });
  module.def("_is_wrapper", [](const Tensor& t) {
    return t.key_set().has(DispatchLayer::Python) && !t.unsafe_impl()->has_memory;
  });
  module.def("_share_storage", [](const Tensor& t, const Tensor& with) {
    if (t.unsafe_impl()->has_memory || with.unsafe_impl()->has_memory) return;
    t.unsafe_impl()->storage = with.unsafe_impl()->storage;
  });
  module.def("_number_tensor",
             [](nb::handle number) { return number_tensor(Arguments::read_scalar(number.ptr())); });
  module.def("_takes_calls",
             [](const Tensor& t) { return t.key_set().has(DispatchLayer::Python); });
  nb::class_<ReentrantScope>(module, "_ReentrantDispatch")
      .def(nb::init<>())
      .def("__enter__",
           [](ReentrantScope& self) {
             self.excluded.push_back(thread_state.excluded_layers);
             constexpr uint8_t above = DispatchKeySet(DispatchLayer::Autograd).layers |
                                       DispatchKeySet(DispatchLayer::ForwardGrad).layers;
             thread_state.excluded_layers &= static_cast<uint8_t>(~above);
             thread_state.refresh();
           })
      .def("__exit__", [](ReentrantScope& self, nb::args) {
        TENON_CHECK(!self.excluded.empty(), "_ReentrantDispatch is left that was not entered");
        thread_state.excluded_layers = self.excluded.back();
        self.excluded.pop_back();
        thread_state.refresh();
      });
  nb::class_<DispatchScope>(module, "_DisableTorchDispatch")
      .def(nb::init<>())
      .def("__enter__",
           [](nb::handle self) {
             nb::cast<DispatchScope&>(self).guards.push_back(std::make_shared<WithoutDispatch>());
             return nb::borrow(self);
           })
      .def("__exit__", [](DispatchScope& self, nb::args) {
        TENON_CHECK(!self.guards.empty(), "_DisableTorchDispatch is left that was not entered");
        self.guards.pop_back();
      });
}

}  // namespace tenon::python
