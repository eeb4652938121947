#include "autograd/tools/functional.h"

#include "aten/core/thread_state.h"
#include "autograd/autograd.h"
#include "autograd/forward/forward_ad.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/select.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd::functional {
namespace {

struct PrepareOptions {
  bool create_graph = false;   ///< stay connected to the history of the caller's tensors
  bool requires_grad = false;  ///< of the others
};
/// New tensors, so that an input differs from the same tensor used inside the function.
variable_list prepare(const variable_list& tensors, const PrepareOptions& options = {}) {
  variable_list prepared;
  for (const Tensor& t : tensors) {
    prepared.push_back(options.create_graph && t.requires_grad()
                           ? t.view(t.sizes())
                           : t.detach().requires_grad_(options.requires_grad));
  }
  return prepared;
}

variable_list finish(variable_list tensors, bool create_graph) {
  if (create_graph) return tensors;
  for (Tensor& t : tensors) t = t.detach();
  return tensors;
}

/// v as the function's derivative takes it; a list without elements stands for a single one.
variable_list prepare_v(const char* name, const variable_list& v, const variable_list& like,
                        const char* of_what, bool create_graph) {
  if (v.empty()) {
    TENON_CHECK(like.size() == 1 && like[0].numel() == 1, "[", name,
                "] The vector v can only be None if ", of_what,
                " a single Tensor with a single element.");
    return {Tensor()};
  }
  const bool is_single = like.size() == 1;
  TENON_CHECK(!is_single || v.size() == 1, "[", name,
              "] The given v should contain a single Tensor.");
  TENON_CHECK(v.size() == like.size(), "[", name, "] v is a tuple of invalid length: should be ",
              like.size(), " but got ", v.size(), ".");
  for (size_t i = 0; i < v.size(); ++i) {
    const std::string entry = is_single ? "" : detail::concat("Entry ", i, " in ");
    TENON_CHECK(v[i].sizes() == like[i].sizes(), "[", name, "] ", entry,
                "v has invalid size: should be tenon.Size(", like[i].sizes(),
                ") but got tenon.Size(", v[i].sizes(), ").");
  }
  return prepare(v, {.create_graph = create_graph});
}

void check_outputs(const variable_list& outputs, const Options& options) {
  if (!options.strict) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    TENON_CHECK(outputs[i].requires_grad(), "Output ", i,
                " of the user-provided function does not require gradients. The outputs must be "
                "computed in a differentiable manner from the input when running in strict mode.");
  }
}

void check_used(const variable_list& grads, const Options& options) {
  if (!options.strict) return;
  for (size_t i = 0; i < grads.size(); ++i) {
    TENON_CHECK(grads[i].defined(),
                "The output of the user-provided function is independent of "
                "input ",
                i, ". This is not allowed in strict mode.");
  }
}

/// That the first derivative depends on the input, where the second is wanted.
void check_jacobian(const variable_list& jacobian, const Options& options) {
  check_used(jacobian, options);
  if (!options.strict) return;
  for (size_t i = 0; i < jacobian.size(); ++i) {
    TENON_CHECK(jacobian[i].requires_grad(),
                "While computing the hessian, found that the jacobian of the user-provided "
                "function with respect to input ",
                i,
                " is independent of the input. This is not allowed in strict mode. You should "
                "ensure that your function is twice differentiable and that the jacobian depends "
                "on the inputs (this would be violated by a linear function for example).");
  }
}

/// Gradients of those outputs that have any.
variable_list gradients(const variable_list& outputs, const variable_list& inputs,
                        const variable_list& grad_outputs, bool create_graph,
                        std::optional<bool> retain_graph = std::nullopt) {
  std::vector<Tensor> roots, root_grads;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    root_grads.push_back(i < grad_outputs.size() ? grad_outputs[i] : Tensor());
  }
  if (roots.empty()) return variable_list(inputs.size());
  const std::vector<Tensor> grads =
      grad(roots, {inputs.begin(), inputs.end()}, root_grads, retain_graph, create_graph, true);
  return variable_list(grads.begin(), grads.end());
}

/// Which derivative of the function is filled in, for the texts of errors.
struct Stage {
  const char* missing_before;  // around the number of the gradient that is missing
  const char* missing_after;
  const char* derivative;  // that has no graph of its own
};

constexpr Stage kBack{"The output of the user-provided function is independent of input ",
                      ". This is not allowed in strict mode.", "jacobian"};
constexpr Stage kBackTrick{
    "The gradient with respect to the input is independent of entry ",
    " in the grad_outputs when using the double backward trick to compute forward mode gradients. "
    "This is not allowed in strict mode.",
    "jacobian"};
constexpr Stage kDoubleBack{"The jacobian of the user-provided function is independent of input ",
                            ". This is not allowed in strict mode.", "hessian"};
constexpr Stage kDoubleBackTrick{
    "The hessian of the user-provided function is independent of entry ",
    " in the grad_jacobian. This is not allowed in strict mode as it prevents from using the "
    "double backward trick to replace forward mode AD.",
    "hessian"};

/// Zeros for gradients that are missing.
variable_list filled(variable_list grads, const variable_list& like, const Options& options,
                     const Stage& stage) {
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) {
      TENON_CHECK(!options.strict, stage.missing_before, i, stage.missing_after);
      grads[i] = zeros_like(like[i]);
    } else if (options.strict && options.create_graph) {
      TENON_CHECK(grads[i].requires_grad(), "The ", stage.derivative,
                  " of the user-provided function is independent of input ", i,
                  ". This is not allowed in strict mode when create_graph=True.");
    }
  }
  return grads;
}

variable_list zeros_that_require_grad(const variable_list& like) {
  variable_list zeros;
  for (const Tensor& t : like) zeros.push_back(zeros_like(t).detach().requires_grad_());
  return zeros;
}

void check_single(const char* name, const variable_list& outputs) {
  TENON_CHECK(outputs.size() == 1, "The function given to ", name,
              " should return a single Tensor, got ", outputs.size());
  TENON_CHECK(outputs[0].numel() == 1, "The Tensor returned by the function given to ", name,
              " should contain a single element, got sizes ", outputs[0].sizes());
}

std::vector<int64_t> joined(IntArrayRef a, IntArrayRef b) {
  std::vector<int64_t> sizes = a.vec();
  sizes.insert(sizes.end(), b.begin(), b.end());
  return sizes;
}

bool is_forward(const char* name, const Options& options) {
  if (options.strategy == Strategy::Reverse) return false;
  constexpr const char* kRefused = "=True` and `strategy=\"forward-mode\"` are not supported "
                                   "together (yet). Please set one of them "
                                   "otherwise.";
  TENON_CHECK(!options.strict, "torch.autograd.functional.", name, ": `strict", kRefused);
  TENON_CHECK_NOT_IMPLEMENTED(!options.create_graph, "torch.autograd.functional.", name,
                              ": `create_graph", kRefused);
  return true;
}
void check_reverse(const char* name, const Options& options) {
  TENON_CHECK_VALUE(options.strategy == Strategy::Reverse, "[", name,
                    "] there is reverse mode alone, got forward mode");
}

/// The inputs with tangents, those of a `v` that is left out being 1.
variable_list duals(const variable_list& inputs, const variable_list& v) {
  variable_list with;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor tangent = v[i].defined() ? v[i] : ones_like(inputs[i].detach());
    with.push_back(forward_ad::make_dual(inputs[i], tangent));
  }
  return with;
}
/// What the level that is about to end has given, and the tangents, zeros where there is none.
Product unpacked(const variable_list& outputs) {
  Product result;
  for (const Tensor& t : outputs) {
    const Tensor tangent = forward_ad::tangent_of(t);
    result.outputs.push_back(t.detach());
    result.product.push_back(tangent.defined() ? tangent.detach() : zeros_like(t.detach()));
  }
  return result;
}

/// The function and its first derivative, recorded, for products with the second.
struct FirstDerivative {
  variable_list inputs;
  variable_list v;
  variable_list outputs;
  variable_list jacobian;
};

FirstDerivative first_derivative(const char* name, const MultiFunction& f,
                                 const variable_list& inputs, const variable_list& v,
                                 const Options& options) {
  FirstDerivative first;
  first.inputs = prepare(inputs, {.create_graph = options.create_graph, .requires_grad = true});
  first.v = prepare_v(name, v, first.inputs, "the input to the user-provided function is",
                      options.create_graph);
  first.outputs = f(first.inputs);
  check_outputs(first.outputs, options);
  check_single(name, first.outputs);
  first.jacobian = gradients(first.outputs, first.inputs, {}, true);
  check_jacobian(first.jacobian, options);
  return first;
}

/// Column by column: one call of the function for each element of the inputs.
std::vector<variable_list> forward_jacobian(const MultiFunction& f, const variable_list& inputs) {
  const variable_list in = prepare(inputs);
  std::vector<std::vector<std::vector<Tensor>>> columns;  // of each output and input
  variable_list outputs;
  for (size_t j = 0; j < in.size(); ++j) {
    // An input without elements needs a call as well, for what the outputs are.
    for (int64_t k = 0; k < std::max<int64_t>(in[j].numel(), 1); ++k) {
      const forward_ad::DualLevel level;
      variable_list with = in;
      const Tensor direction = zeros_like(in[j]).contiguous();
      if (in[j].numel() > 0) direction.view({-1}).select(0, k).fill_(1);
      with[j] = forward_ad::make_dual(in[j], direction);
      const Product column = unpacked(f(with));
      outputs = column.outputs;
      columns.resize(outputs.size(), std::vector<std::vector<Tensor>>(in.size()));
      if (in[j].numel() == 0) continue;
      for (size_t i = 0; i < outputs.size(); ++i) columns[i][j].push_back(column.product[i]);
    }
  }
  std::vector<variable_list> result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    variable_list of_output;
    for (size_t j = 0; j < in.size(); ++j) {
      const std::vector<int64_t> sizes = joined(outputs[i].sizes(), in[j].sizes());
      of_output.push_back(columns[i][j].empty() ? outputs[i].new_zeros(sizes)
                                                : stack(columns[i][j], -1).view(sizes));
    }
    result.push_back(std::move(of_output));
  }
  return result;
}

}  // namespace

Product vjp(const MultiFunction& f, const variable_list& inputs, const variable_list& v,
            const Options& options) {
  check_reverse("vjp", options);
  const AutoGradMode recorded(true);
  const variable_list in =
      prepare(inputs, {.create_graph = options.create_graph, .requires_grad = true});
  const variable_list outputs = f(in);
  check_outputs(outputs, options);
  const variable_list weights =
      prepare_v("vjp", v, outputs, "the user-provided function returns", options.create_graph);
  const variable_list product =
      filled(gradients(outputs, in, weights, options.create_graph), in, options, kBack);
  return {finish(outputs, options.create_graph), finish(product, options.create_graph)};
}

Product jvp(const MultiFunction& f, const variable_list& inputs, const variable_list& v,
            const Options& options) {
  if (is_forward("jvp", options)) {
    const variable_list in = prepare(inputs);
    const variable_list weights =
        prepare_v("jvp", v, in, "the input to the user-provided function is", false);
    const forward_ad::DualLevel level;
    return unpacked(f(duals(in, weights)));
  }
  const AutoGradMode recorded(true);
  const variable_list in =
      prepare(inputs, {.create_graph = options.create_graph, .requires_grad = true});
  const variable_list weights =
      prepare_v("jvp", v, in, "the input to the user-provided function is", options.create_graph);
  const variable_list outputs = f(in);
  check_outputs(outputs, options);
  const variable_list u = zeros_that_require_grad(outputs);
  const variable_list grads = gradients(outputs, in, u, true);
  check_used(grads, options);
  if (options.strict) {
    for (size_t i = 0; i < grads.size(); ++i) {
      TENON_CHECK(grads[i].requires_grad(), "The gradient with respect to input ", i,
                  " is independent of the inputs of the user-provided function. This is not "
                  "allowed in strict mode.");
    }
  }
  const variable_list product =
      filled(gradients(grads, u, weights, options.create_graph), outputs, options, kBackTrick);
  return {finish(outputs, options.create_graph), finish(product, options.create_graph)};
}

std::vector<variable_list> jacobian(const MultiFunction& f, const variable_list& inputs,
                                    const Options& options) {
  if (is_forward("jacobian", options)) return forward_jacobian(f, inputs);
  const AutoGradMode recorded(true);
  const variable_list in =
      prepare(inputs, {.create_graph = options.create_graph, .requires_grad = true});
  const variable_list outputs = f(in);
  check_outputs(outputs, options);
  std::vector<variable_list> result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::vector<Tensor>> rows(in.size());
    const Tensor flat = outputs[i].reshape({-1});
    for (int64_t k = 0; k < flat.numel(); ++k) {
      const variable_list grads =
          gradients({flat.select(0, k)}, in, {}, options.create_graph, true);
      for (size_t j = 0; j < in.size(); ++j) {
        if (grads[j].defined()) {
          TENON_CHECK(!options.strict || !options.create_graph || grads[j].requires_grad(),
                      "The jacobian of the user-provided function is independent of input ", j,
                      ". This is not allowed in strict mode when create_graph=True.");
        } else {
          TENON_CHECK(!options.strict, "Output ", i,
                      " of the user-provided function is independent of input ", j,
                      ". This is not allowed in strict mode.");
        }
        rows[j].push_back(grads[j].defined() ? grads[j] : zeros_like(in[j]));
      }
    }
    variable_list of_output;
    for (size_t j = 0; j < in.size(); ++j) {
      const std::vector<int64_t> sizes = joined(outputs[i].sizes(), in[j].sizes());
      of_output.push_back(rows[j].empty() ? in[j].detach().new_zeros(sizes)
                                          : stack(rows[j], 0).view(sizes));
    }
    result.push_back(finish(std::move(of_output), options.create_graph));
  }
  return result;
}

std::vector<variable_list> hessian(const MultiFunction& f, const variable_list& inputs,
                                   const Options& options) {
  const MultiFunction single = [&](const variable_list& in) -> variable_list {
    const variable_list outputs = f(in);
    check_outputs(outputs, options);
    check_single("hessian", outputs);
    return {outputs[0].reshape({})};
  };
  const bool forward = options.strategy == Strategy::Forward;
  const MultiFunction first = [&](const variable_list& duals) {
    variable_list in = duals;
    // So that they are not detached, which would drop their tangents.
    for (Tensor& t : in) {
      if (forward && !t.requires_grad()) t.set_requires_grad(true);
    }
    variable_list jac = jacobian(single, in, {.create_graph = true, .strict = false})[0];
    check_jacobian(jac, options);
    return jac;
  };
  return jacobian(first, inputs, options);
}

Product vhp(const MultiFunction& f, const variable_list& inputs, const variable_list& v,
            const Options& options) {
  check_reverse("vhp", options);
  const AutoGradMode recorded(true);
  const FirstDerivative first = first_derivative("vhp", f, inputs, v, options);
  const variable_list product =
      filled(gradients(first.jacobian, first.inputs, first.v, options.create_graph), first.inputs,
             options, kDoubleBack);
  return {finish(first.outputs, options.create_graph), finish(product, options.create_graph)};
}

Product hvp(const MultiFunction& f, const variable_list& inputs, const variable_list& v,
            const Options& options) {
  const AutoGradMode recorded(true);
  if (is_forward("hvp", options)) {
    const variable_list in = prepare(inputs, {.requires_grad = true});
    const variable_list weights =
        prepare_v("hvp", v, in, "the input to the user-provided function is", false);
    const forward_ad::DualLevel level;
    const variable_list with = duals(in, weights);
    const variable_list outputs = f(with);
    check_single("hvp", outputs);
    variable_list jacobian = gradients(outputs, with, {}, false);
    for (size_t i = 0; i < jacobian.size(); ++i) {
      if (!jacobian[i].defined()) jacobian[i] = zeros_like(in[i].detach());
    }
    return {finish(outputs, false), unpacked(jacobian).product};
  }
  const FirstDerivative first = first_derivative("hvp", f, inputs, v, options);
  const variable_list u = zeros_that_require_grad(first.inputs);
  const variable_list twice = gradients(first.jacobian, first.inputs, u, true);
  const variable_list product = filled(gradients(twice, u, first.v, options.create_graph),
                                       first.inputs, options, kDoubleBackTrick);
  return {finish(first.outputs, options.create_graph), finish(product, options.create_graph)};
}

}  // namespace tenon::autograd::functional
