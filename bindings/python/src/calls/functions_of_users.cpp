#include "autograd/function.h"
#include "autograd/generated_support/generated_support.h"
#include "bindings/python/src/calls/caster.h"

/// autograd.Function of Python.
namespace tenon::python {

using autograd::AutogradContext;
using autograd::FunctionNode;
using autograd::variable_list;

namespace {

/// What `ctx` reaches of its node; nothing once that has gone.
struct ContextHandle {
  FunctionNode* node = nullptr;

  AutogradContext& get() const {
    TENON_CHECK(node, "the graph that this ctx belongs to has been freed");
    return node->context();
  }
};

/// What the node keeps of Python's side.
struct State {
  Kept function;  ///< the class
  Kept ctx;
  std::shared_ptr<ContextHandle> handle;
};

variable_list call_backward(AutogradContext* context, variable_list grads) {
  const nb::gil_scoped_acquire locked;
  const auto state = std::any_cast<std::shared_ptr<State>>(context->state);
  const nb::object result = nb::handle(state->function.get())
                                .attr("_backward")(nb::handle(state->ctx.get()), to_tuple(grads));
  return to_tensors(result, "the gradients that backward returns");
}

variable_list call_jvp(AutogradContext* context, variable_list tangents) {
  const nb::gil_scoped_acquire locked;
  const auto state = std::any_cast<std::shared_ptr<State>>(context->state);
  const nb::object result = nb::handle(state->function.get())
                                .attr("_jvp")(nb::handle(state->ctx.get()), to_tuple(tangents));
  return to_tensors(result, "the tangents that jvp returns");
}

class PythonFunctionNode final : public FunctionNode {
 public:
  PythonFunctionNode(std::string name, std::shared_ptr<ContextHandle> handle)
      : FunctionNode(&call_backward, &call_jvp, typeid(PythonFunctionNode)), name_(std::move(name)),
        handle_(std::move(handle)) {
    handle_->node = this;
  }
  ~PythonFunctionNode() override { handle_->node = nullptr; }

  nb::object python_context() const {
    const auto& state = std::any_cast<const std::shared_ptr<State>&>(context().state);
    return nb::borrow(state->ctx.get());
  }

 protected:
  std::string function_name() const override { return name_; }

 private:
  std::string name_;
  std::shared_ptr<ContextHandle> handle_;
};

/// The end of what must not be differentiated.
class OnceDifferentiable final : public autograd::Node {
 public:
  std::string name() const override { return "Error"; }
  variable_list apply(variable_list&&) override {
    tenon::detail::raise<Error>(
        "trying to differentiate twice a function that was marked with @once_differentiable");
  }
};

/// What backward has computed from `grads` without recording, as tensors whose gradients are an
/// error wherever they would go: to the gradients, and to the inputs of the function.
nb::tuple refuse_derivative(const Tensors& results, const Tensors& grads,
                            const ContextHandle* handle) {
  const IntrusivePtr<autograd::Node> node = autograd::make_node<OnceDifferentiable>();
  autograd::set_edges(*node, TensorList(grads));
  if (handle && handle->node) {
    for (const autograd::Edge& edge : handle->node->next_edges()) node->add_next_edge(edge);
  }
  variable_list refusing;
  for (const Tensor& t : results) {
    refusing.push_back(t.defined() ? t.detach() : t);
    autograd::set_history(refusing.back(), node);
  }
  return to_tuple(refusing);
}

/// function.apply(*args), with a ctx that is made already.
nb::object apply_function(nb::handle function, nb::object ctx, nb::tuple args) {
  const auto handle = nb::cast<std::shared_ptr<ContextHandle>>(ctx.attr("_context"));
  const auto node = autograd::make_node<PythonFunctionNode>(
      nb::cast<std::string>(function.attr("__name__")), handle);
  for (nb::handle arg : args) {
    is_tensor(arg.ptr()) ? node->add_input(tensor_of(arg.ptr())) : node->add_input(0);
  }
  const auto state = std::make_shared<State>(State{keep(function), keep(ctx), handle});
  node->context().state = state;
  nb::object result;
  {
    const FunctionNode::Forward scope;
    result = function.attr("_forward")(ctx, args);
  }
  const bool single = !PyTuple_Check(result.ptr());
  const nb::tuple given = single ? nb::make_tuple(result) : nb::borrow<nb::tuple>(result);
  variable_list outputs;
  for (nb::handle one : given) {
    // What is no tensor has its place, and no gradient.
    outputs.push_back(is_tensor(one.ptr()) ? tensor_of(one.ptr()) : Tensor());
  }
  node->record(outputs);
  nb::list returned;
  for (size_t i = 0; i < outputs.size(); ++i) {
    returned.append(outputs[i].defined() ? nb::cast(outputs[i]) : nb::borrow(given[i]));
  }
  return single ? nb::object(returned[0]) : nb::object(nb::tuple(returned));
}

}  // namespace

nb::object context_of(const autograd::Node& node) {
  const auto* of_user = dynamic_cast<const PythonFunctionNode*>(&node);
  return of_user ? of_user->python_context() : nb::object();
}

void add_functions_of_users(nb::module_& module) {
  nb::class_<ContextHandle>(module, "_FunctionContext")
      .def("save_for_backward",
           [](const ContextHandle& h, const Tensors& tensors) {
             h.get().save_for_backward(to_list(tensors));
           })
      .def("save_for_forward",
           [](const ContextHandle& h, const Tensors& tensors) {
             h.get().save_for_forward(to_list(tensors));
           })
      .def("mark_dirty", [](const ContextHandle& h,
                            const Tensors& tensors) { h.get().mark_dirty(to_list(tensors)); })
      .def("mark_non_differentiable",
           [](const ContextHandle& h, const Tensors& tensors) {
             h.get().mark_non_differentiable(to_list(tensors));
           })
      .def("set_materialize_grads",
           [](const ContextHandle& h, bool yes) { h.get().set_materialize_grads(yes); })
      .def("saved_tensors",
           [](const ContextHandle& h) { return to_tuple(h.get().get_saved_variables()); })
      .def("needs_input_grad",
           [](const ContextHandle& h, size_t i) { return h.get().needs_input_grad(i); });
  module.def("_make_function_context", [] { return std::make_shared<ContextHandle>(); });
  module.def("_apply_function", &apply_function);
  module.def("_refuse_derivative", &refuse_derivative, nb::arg("results"), nb::arg("grads"),
             nb::arg("context").none());
}

}  // namespace tenon::python
