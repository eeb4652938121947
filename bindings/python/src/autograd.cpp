#include "autograd/autograd.h"

#include <unordered_map>

#include "autograd/engine/accumulate_grad.h"
#include "autograd/engine/engine.h"
#include "autograd/engine/multi_grad_hook.h"
#include "autograd/forward/forward_ad.h"
#include "autograd/meta.h"
#include "autograd/saved/saved_tensor_hooks.h"
#include "autograd/saved/saved_variable.h"
#include "autograd/tools/anomaly.h"
#include "autograd/tools/to_dot.h"
#include "autograd/views/mutation_guard.h"
#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/calls/results.h"

namespace tenon::python {

using autograd::HookHandle;
using autograd::Node;
using autograd::SavedEntry;
using autograd::SavedKind;
using autograd::SavedVariable;
using autograd::variable_list;

Kept keep(nb::handle object) {
  return Kept(object.inc_ref().ptr(), [](PyObject* o) {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire locked;
    Py_DECREF(o);
  });
}

variable_list to_tensors(nb::handle object, const char* what) {
  variable_list list;
  const auto add = [&](nb::handle one) {
    TENON_CHECK_TYPE(one.is_none() || is_tensor(one.ptr()), what, " must be Tensors or None, got ",
                     Py_TYPE(one.ptr())->tp_name);
    list.push_back(one.is_none() ? Tensor() : tensor_of(one.ptr()));
  };
  if (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr())) {
    for (nb::handle one : object) add(one);
  } else {
    add(object);
  }
  return list;
}

nb::tuple to_tuple(const variable_list& tensors) {
  nb::list list;
  for (const Tensor& t : tensors) list.append(nb::cast(t));
  return nb::tuple(list);
}

namespace {

/// The objects of the nodes that have one.
std::unordered_map<const Node*, PyObject*>& node_objects() {
  // Never destroyed: objects may outlive the static ones.
  static auto& objects = *new std::unordered_map<const Node*, PyObject*>;
  return objects;
}

/// A node of the graph, in Python.
struct NodeReference {
  explicit NodeReference(IntrusivePtr<Node> n) : node(std::move(n)) {}
  NodeReference(const NodeReference&) = delete;
  NodeReference& operator=(const NodeReference&) = delete;
  ~NodeReference() { node_objects().erase(node.get()); }

  const IntrusivePtr<Node> node;
};

/// The class of the nodes of this name, a subclass of Node.
nb::handle node_class(const std::string& name) {
  static auto& classes = *new std::unordered_map<std::string, nb::object>;
  nb::object& found = classes[name];
  if (!found) {
    const nb::handle base = nb::type<NodeReference>();
    nb::dict members;
    members["__slots__"] = nb::make_tuple();
    members["__module__"] = nb::object(base.attr("__module__"));
    found = base.type()(name, nb::make_tuple(base), members);
  }
  return found;
}

/// The same object each time, as long as somebody holds it.
nb::object wrap_node(const IntrusivePtr<Node>& node) {
  if (!node) return nb::none();
  const auto known = node_objects().find(node.get());
  if (known != node_objects().end()) return nb::borrow(known->second);
  nb::object object = nb::inst_alloc(node_class(node->name()));
  ::new (nb::inst_ptr<void>(object)) NodeReference(node);
  nb::inst_mark_ready(object);
  node_objects().emplace(node.get(), object.ptr());
  return object;
}

/// node(*grads): the gradients of its inputs, or that of the only one, as the engine gets them
/// before it adds up what was broadcast. No hook runs.
nb::object call_node(const NodeReference& n, nb::args args, nb::kwargs keywords) {
  TENON_CHECK_TYPE(keywords.size() == 0, "keyword arguments are not supported");
  TENON_CHECK_TYPE(args.size() == n.node->num_inputs(), "expected ", n.node->num_inputs(),
                   " arguments, got ", args.size(), " instead");
  variable_list grads;
  for (size_t i = 0; i < args.size(); ++i) {
    const nb::handle grad = args[i];
    TENON_CHECK_TYPE(grad.is_none() || is_tensor(grad.ptr()), "argument ", i,
                     " is not a Tensor, got ", Py_TYPE(grad.ptr())->tp_name);
    grads.push_back(grad.is_none() ? Tensor() : tensor_of(grad.ptr()));
  }
  variable_list results;
  {
    const nb::gil_scoped_release unlocked;
    results = n.node->apply(std::move(grads));
  }
  return results.size() == 1 ? nb::cast(results[0]) : nb::object(to_tuple(results));
}

/// A dict that is kept with the node.
nb::object metadata_of(const NodeReference& n) {
  std::shared_ptr<void>& metadata = autograd::metadata_of(*n.node);
  if (!metadata) metadata = keep(nb::dict());
  return nb::borrow(static_cast<PyObject*>(metadata.get()));
}

autograd::GradOptions grad_options(std::optional<bool> retain_graph, bool create_graph,
                                   std::optional<bool> allow_unused, bool batched,
                                   bool materialize) {
  return {.retain_graph = retain_graph,
          .create_graph = create_graph,
          .allow_unused = allow_unused,
          .materialize_grads = materialize,
          .is_grads_batched = batched};
}

/// Of (node, number) each.
std::vector<autograd::Edge> to_edges(const nb::list& list) {
  std::vector<autograd::Edge> edges;
  for (nb::handle edge : list) {
    edges.push_back({nb::cast<const NodeReference&>(edge[0]).node, nb::cast<uint32_t>(edge[1])});
  }
  return edges;
}

/// A tensor that a node keeps, for hooks of its own: `_raw_saved_self`.
struct SavedTensor {
  IntrusivePtr<Node> node;
  SavedVariable* variable;
};

autograd::SavedTensorHooks to_hooks(const Kept& pack, const Kept& unpack) {
  autograd::SavedTensorHooks hooks;
  hooks.pack = [pack](const Tensor& t) -> std::any {
    const nb::gil_scoped_acquire locked;
    return keep(nb::handle(pack.get())(t));
  };
  hooks.unpack = [unpack](const std::any& packed) {
    const nb::gil_scoped_acquire locked;
    const auto& kept = std::any_cast<const Kept&>(packed);
    const nb::object result = nb::handle(unpack.get())(nb::handle(kept.get()));
    TENON_CHECK_TYPE(is_tensor(result.ptr()),
                     "Output of saved tensor unpack_hook expected to be a ",
                     "Tensor but got result of type ", Py_TYPE(result.ptr())->tp_name);
    return tensor_of(result.ptr());
  };
  return hooks;
}

nb::object value_object(const Value& value) {
  return std::visit(
      [](const auto& v) -> nb::object {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Scalar>) {
          return nb::steal(wrap(v));
        } else if constexpr (std::is_same_v<T, Value::Scalars>) {
          nb::list list;
          for (const Scalar& one : v) list.append(nb::steal(wrap(one)));
          return nb::tuple(list);
        } else if constexpr (std::is_same_v<T, Value::Ints> || std::is_same_v<T, Value::Doubles> ||
                             std::is_same_v<T, Value::Bools>) {
          nb::list list;
          for (const auto one : v) list.append(nb::cast(one));
          return nb::tuple(list);
        } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
                             std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
          return nb::cast(v);
        } else {
          return nb::none();
        }
      },
      value.variant());
}

bool is_saved_tensor(const SavedEntry& entry) {
  return entry.kind == SavedKind::Tensor || entry.kind == SavedKind::TensorList;
}
/// Whether Python sees it: what the node itself keeps, of a kind that Python knows.
bool is_shown(const Node& node, const SavedEntry& entry) {
  return entry.node == &node && (is_saved_tensor(entry) || entry.plain());
}

/// As `make` says of one tensor.
template <class Make>
nb::object each_tensor(const SavedEntry& entry, const Make& make) {
  if (entry.kind == SavedKind::Tensor) return make(*static_cast<const SavedVariable*>(entry.value));
  nb::list list;
  for (const auto& one : *static_cast<const std::vector<SavedVariable>*>(entry.value))
    list.append(make(one));
  return nb::tuple(list);
}

constexpr std::string_view kSaved = "_saved_", kRawSaved = "_raw_saved_";

/// node.variable of a leaf's accumulator. node._saved_self: a tensor, None, a tuple of them, or a
/// plain value. node._raw_saved_self: what keeps the tensor.
nb::object saved_attribute(const NodeReference& n, const std::string& name) {
  const auto* accumulator = dynamic_cast<const autograd::AccumulateGrad*>(n.node.get());
  if (accumulator && name == "variable") return nb::cast(accumulator->variable());
  const bool raw = name.starts_with(kRawSaved);
  const std::string value = name.substr(raw                        ? kRawSaved.size()
                                        : name.starts_with(kSaved) ? kSaved.size()
                                                                   : name.size());
  for (const SavedEntry& entry : n.node->saved()) {
    if (value.empty() || entry.name != value || !is_shown(*n.node, entry)) continue;
    if (is_saved_tensor(entry)) {
      return each_tensor(entry, [&](const SavedVariable& s) -> nb::object {
        if (raw) return nb::cast(SavedTensor{n.node, const_cast<SavedVariable*>(&s)});
        return nb::cast(s.unpack(*n.node));
      });
    }
    if (!raw) return value_object(*entry.plain());
  }
  // What the ctx of a custom Function has: `saved_tensors`, and what forward has set.
  if (const nb::object context = name.starts_with("__") ? nb::object() : context_of(*n.node)) {
    if (PyObject* const found = PyObject_GetAttrString(context.ptr(), name.c_str()))
      return nb::steal(found);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
    PyErr_Clear();
  }
  throw nb::attribute_error(
      ("'" + n.node->name() + "' object has no attribute '" + name + "'").c_str());
}

nb::list attributes_of(nb::handle self) {
  nb::list names = nb::list(nb::module_::import_("builtins").attr("object").attr("__dir__")(self));
  const Node& node = *nb::cast<const NodeReference&>(self).node;
  for (const SavedEntry& entry : node.saved()) {
    if (!is_shown(node, entry)) continue;
    names.append(std::string(kSaved) + entry.name);
    if (is_saved_tensor(entry)) names.append(std::string(kRawSaved) + entry.name);
  }
  return names;
}

/// Whether the pack and unpack functions are in force.
class HooksScope {
 public:
  HooksScope(nb::object pack, nb::object unpack) : pack_(keep(pack)), unpack_(keep(unpack)) {}
  HooksScope(const HooksScope&) = delete;
  HooksScope& operator=(const HooksScope&) = delete;
  void enter() {
    guards_.push_back(std::make_unique<autograd::SavedTensorHooksGuard>(to_hooks(pack_, unpack_)));
  }
  void leave() { guards_.pop_back(); }

 private:
  Kept pack_, unpack_;
  std::vector<std::unique_ptr<autograd::SavedTensorHooksGuard>> guards_;
};

/// A C++ guard as a context manager.
template <class Guard, class... Args>
class Scope {
 public:
  explicit Scope(Args... args) : args_(std::move(args)...) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  void enter() {
    std::apply([&](const auto&... a) { guards_.push_back(std::make_unique<Guard>(a...)); }, args_);
  }
  void leave() { guards_.pop_back(); }
  /// Null outside of it.
  Guard* current() const { return guards_.empty() ? nullptr : guards_.back().get(); }

 private:
  std::tuple<Args...> args_;
  std::vector<std::unique_ptr<Guard>> guards_;
};
using InferenceScope = Scope<InferenceMode, bool>;
using DualLevelScope = Scope<autograd::forward_ad::DualLevel>;
using SaveOnCpuScope = Scope<autograd::SaveOnCpu>;
using MutationScope = Scope<autograd::AllowMutationOnSavedTensors>;
using DisableHooksScope = Scope<autograd::DisableSavedTensorHooks, std::string>;

template <class S, class Class>
void add_scope_methods(Class& type) {
  type.def("__enter__",
           [](nb::handle self) {
             nb::cast<S&>(self).enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](S& self, nb::args) { self.leave(); });
}

void add_node(nb::module_& module) {
  nb::class_<HookHandle>(module, "RemovableHandle", "Names a hook; remove() takes it away.")
      .def("remove", [](const HookHandle& handle) { handle.remove(); })
      .def_prop_ro("id", &HookHandle::id)
      .def_prop_ro("is_active", &HookHandle::is_active)
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](const HookHandle& handle, nb::args) { handle.remove(); });

  nb::class_<SavedTensor>(module, "SavedTensor", "A tensor that a node keeps for backward.")
      .def("__init__",
           [](SavedTensor*) {
             throw Error("Trying to create a SavedTensor object from Python is forbidden.");
           })
      .def("register_hooks", [](const SavedTensor& s, nb::callable pack, nb::callable unpack) {
        s.variable->register_hooks(to_hooks(keep(pack), keep(unpack)), *s.node);
      });

  nb::class_<NodeReference>(module, "Node", "A recorded operation.")
      .def("__getattr__", &saved_attribute)
      .def("__dir__", &attributes_of)
      .def("name", [](const NodeReference& n) { return n.node->name(); })
      .def("__call__", &call_node,
           "node(*grads): the gradients of its inputs for those of its results.")
      .def_prop_ro("metadata", &metadata_of, "A dict that is kept with the node.")
      .def_prop_ro("next_functions",
                   [](const NodeReference& n) {
                     nb::list list;
                     for (const autograd::Edge& edge : n.node->next_edges()) {
                       list.append(nb::make_tuple(wrap_node(edge.function), edge.input_nr));
                     }
                     return nb::tuple(list);
                   })
      .def("_sequence_nr", [](const NodeReference& n) { return n.node->sequence_nr(); })
      .def("_nbytes_saved", [](const NodeReference& n) { return n.node->saved_nbytes(); })
      .def("register_prehook",
           [](const NodeReference& n, nb::callable hook) {
             return n.node->add_pre_hook([kept = keep(hook)](const variable_list& grads) {
               const nb::gil_scoped_acquire locked;
               const nb::object result = nb::handle(kept.get())(to_tuple(grads));
               return result.is_none() ? grads : to_tensors(result, "the results of a prehook");
             });
           })
      .def("register_hook",
           [](const NodeReference& n, nb::callable hook) {
             return n.node->add_post_hook([kept = keep(hook)](const variable_list& grad_inputs,
                                                              const variable_list& grad_outputs) {
               const nb::gil_scoped_acquire locked;
               const nb::object result =
                   nb::handle(kept.get())(to_tuple(grad_inputs), to_tuple(grad_outputs));
               return result.is_none() ? grad_inputs : to_tensors(result, "the results of a hook");
             });
           })
      .def("__repr__", [](const NodeReference& n) {
        char address[32];
        std::snprintf(address, sizeof(address), "%p", static_cast<const void*>(n.node.get()));
        return "<" + n.node->name() + " object at " + address + ">";
      });
}

void add_hooks(nb::module_& module) {
  module.def("_register_hook", [](const Tensor& t, nb::callable hook) {
    return autograd::register_hook(t, [kept = keep(hook)](const Tensor& grad) {
      const nb::gil_scoped_acquire locked;
      const nb::object result = nb::handle(kept.get())(grad);
      TENON_CHECK_TYPE(result.is_none() || is_tensor(result.ptr()),
                       "a hook must return a Tensor or None, got ", Py_TYPE(result.ptr())->tp_name);
      return result.is_none() ? Tensor() : tensor_of(result.ptr());
    });
  });
  module.def("_register_post_accumulate_grad_hook", [](const Tensor& t, nb::callable hook) {
    return autograd::register_post_accumulate_grad_hook(t, [kept = keep(hook)](const Tensor& leaf) {
      const nb::gil_scoped_acquire locked;
      nb::handle(kept.get())(leaf);
    });
  });
  using autograd::MultiGradHandle;
  nb::class_<MultiGradHandle>(module, "MultiGradHandle", "Names a hook on several tensors.")
      .def("remove", &MultiGradHandle::remove)
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](const MultiGradHandle& handle, nb::args) { handle.remove(); });
  module.def("_register_multi_grad_hook", [](const Tensors& tensors, nb::callable hook) {
    const std::shared_ptr<PyObject> kept = keep(hook);
    return autograd::register_multi_grad_hook(tensors, [kept](const std::vector<Tensor>& grads) {
      const nb::gil_scoped_acquire locked;
      nb::list list;
      for (const Tensor& t : grads) list.append(nb::cast(t));
      nb::handle(kept.get())(list);
    });
  });
  module.def("_register_any_grad_hook", [](const Tensors& tensors, nb::callable hook) {
    const std::shared_ptr<PyObject> kept = keep(hook);
    return autograd::register_any_grad_hook(tensors, [kept](const Tensor& grad) {
      const nb::gil_scoped_acquire locked;
      nb::handle(kept.get())(grad);
    });
  });
  module.def("_increment_version", [](const Tensors& tensors) {
    for (const Tensor& t : tensors) t.unsafe_impl()->check_may_change();
    for (const Tensor& t : tensors) {
      if (!t.is_inference()) t.unsafe_impl()->bump_version();
    }
  });
  module.def("_queue_callback", [](nb::callable f) {
    autograd::queue_callback([kept = keep(f)] {
      const nb::gil_scoped_acquire locked;
      nb::handle(kept.get())();
    });
  });

  nb::class_<HooksScope> hooks(module, "SavedTensorsHooks");
  hooks.def(nb::init<nb::object, nb::object>());
  add_scope_methods<HooksScope>(hooks);
  nb::class_<SaveOnCpuScope> on_cpu(module, "SaveOnCpu");
  on_cpu.def(nb::init<>());
  add_scope_methods<SaveOnCpuScope>(on_cpu);
  nb::class_<MutationScope> mutation(module, "AllowMutationOnSavedTensors");
  mutation.def(nb::init<>())
      .def(
          "clear",
          [](const MutationScope& scope) {
            if (auto* guard = scope.current()) guard->clear();
          },
          "Gives up what has been saved so far.");
  add_scope_methods<MutationScope>(mutation);
  nb::class_<DisableHooksScope> disable(module, "DisableSavedTensorsHooks");
  disable.def(nb::init<std::string>());
  add_scope_methods<DisableHooksScope>(disable);
}

/// Python counts the calls of a thread, so that they do not fill its stack: on another stack they
/// count from the beginning.
void call_on_fresh_stack(const std::function<void()>& part) {
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  if (!thread) return part();
#if PY_VERSION_HEX < 0x030C0000
  int& left = thread->recursion_remaining;
  const int all = thread->recursion_limit;
#else
  int& left = thread->py_recursion_remaining;
  const int all = thread->py_recursion_limit;
#endif
  struct Restore {
    int& left;
    const int before;
    ~Restore() { left = before; }
  } const restore{left, std::exchange(left, all)};
  part();
}

}  // namespace

void add_autograd(nb::module_& module) {
  autograd::call_on_fresh_stack = &call_on_fresh_stack;
  module.def("is_grad_enabled", &GradMode::is_enabled, "Whether operations are recorded.");
  module.def("_set_grad_enabled", &GradMode::set_enabled);
  module.def("is_inference_mode_enabled", &InferenceMode::is_enabled,
             "Whether what is made are inference tensors.");
  nb::class_<InferenceScope> inference(module, "_InferenceScope");
  inference.def(nb::init<bool>());
  add_scope_methods<InferenceScope>(inference);
  nb::class_<DualLevelScope> level(module, "_DualLevelScope");
  level.def(nb::init<>());
  add_scope_methods<DualLevelScope>(level);
  module.def("_make_dual", &autograd::forward_ad::make_dual);
  module.def("_unpack_dual", [](const Tensor& t) {
    const auto unpacked = autograd::forward_ad::unpack_dual(t);
    return nb::make_tuple(unpacked.primal, unpacked.tangent);
  });
  module.def("is_anomaly_enabled", &autograd::AnomalyMode::is_enabled);
  module.def("is_anomaly_check_nan_enabled", &autograd::AnomalyMode::should_check_nan);
  module.def("_set_anomaly_enabled", &autograd::AnomalyMode::set_enabled);
  module.def(
      "_backward",
      [](const Tensors& tensors, const Tensors& grads, std::optional<bool> retain_graph,
         bool create_graph, const Tensors& inputs) {
        const nb::gil_scoped_release unlocked;
        autograd::backward(tensors, grads, retain_graph, create_graph, inputs);
      },
      nb::arg("tensors"), nb::arg("grads"), nb::arg("retain_graph").none(), nb::arg("create_graph"),
      nb::arg("inputs"));
  module.def(
      "_backward_of_edges",
      [](nb::list outputs, const Tensors& grads, std::optional<bool> retain_graph,
         bool create_graph, nb::list inputs) {
        const std::vector<autograd::Edge> from = to_edges(outputs), to = to_edges(inputs);
        const nb::gil_scoped_release unlocked;
        autograd::backward(from, grads, retain_graph, create_graph, to);
      },
      nb::arg("outputs"), nb::arg("grads"), nb::arg("retain_graph").none(), nb::arg("create_graph"),
      nb::arg("inputs"));
  const auto def_grad = [&](const char* name, auto run) {
    module.def(name, run, nb::arg("outputs"), nb::arg("inputs"), nb::arg("grads"),
               nb::arg("retain_graph").none(), nb::arg("create_graph"),
               nb::arg("allow_unused").none(), nb::arg("is_grads_batched"),
               nb::arg("materialize_grads"));
  };
  def_grad("_grad", [](const Tensors& outputs, const Tensors& inputs, const Tensors& grads,
                       std::optional<bool> retain_graph, bool create_graph,
                       std::optional<bool> allow_unused, bool batched, bool materialize) {
    const nb::gil_scoped_release unlocked;
    return autograd::grad(
        outputs, inputs, grads,
        grad_options(retain_graph, create_graph, allow_unused, batched, materialize));
  });
  def_grad("_grad_of_edges", [](nb::list outputs, nb::list inputs, const Tensors& grads,
                                std::optional<bool> retain_graph, bool create_graph,
                                std::optional<bool> allow_unused, bool batched, bool materialize) {
    const std::vector<autograd::Edge> from = to_edges(outputs), to = to_edges(inputs);
    const nb::gil_scoped_release unlocked;
    return autograd::grad(
        from, to, grads,
        grad_options(retain_graph, create_graph, allow_unused, batched, materialize));
  });
  module.def("_grad_fn", [](const Tensor& t) { return wrap_node(t.grad_fn()); });
  module.def("_gradient_edge", [](const Tensor& t) {
    const autograd::Edge edge = autograd::get_gradient_edge(t);
    return nb::make_tuple(wrap_node(edge.function), edge.input_nr);
  });
  module.def("_to_dot", [](const Tensors& tensors) { return autograd::to_dot(tensors); });
  add_node(module);
  add_hooks(module);
}

}  // namespace tenon::python
