#include "autograd/autograd.h"

#include "aten/core/thread_state.h"
#include "autograd/engine.h"
#include "autograd/meta.h"
#include "tenon/ops/add.h"
#include "tenon/ops/ones_like.h"

namespace tenon::autograd {
namespace {

struct Roots {
  std::vector<Edge> edges;
  std::vector<Tensor> grads;
};

Tensor implicit_grad(const Tensor& output) {
  TENON_CHECK(output.numel() == 1, "grad can be implicitly created only for scalar outputs");
  TENON_CHECK(!output.is_complex(),
              "grad can be implicitly created only for real scalar outputs but got ",
              output.scalar_type() == kComplexFloat ? "torch.complex64" : "torch.complex128");
  const NoGradGuard no_grad;
  return ones_like(output, output.options());
}

void check_grad_output(const Tensor& given, const Tensor& output, size_t i) {
  TENON_CHECK(given.sizes() == output.sizes(), "Mismatch in shape: grad_output[", i,
              "] has a shape of torch.Size(", given.sizes(), ") and output[", i,
              "] has a shape of torch.Size(", output.sizes(), ").");
  TENON_CHECK(
      given.is_complex() == output.is_complex(),
      "For complex Tensors, both grad_output and output are required to have the same dtype. "
      "Mismatch in dtype: grad_output[",
      i, "] has a dtype of ", given.scalar_type(), " and output[", i, "] has a dtype of ",
      output.scalar_type(), ".");
}

Roots make_roots(const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads) {
  TENON_CHECK(grads.empty() || grads.size() == outputs.size(), "got ", outputs.size(),
              " tensors and ", grads.size(), " gradients");
  Roots roots;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    TENON_CHECK(output.requires_grad(), "element ", i,
                " of tensors does not require grad and does not have a grad_fn");
    const bool given = i < grads.size() && grads[i].defined();
    if (given) check_grad_output(grads[i], output, i);
    roots.grads.push_back(given ? grads[i] : implicit_grad(output));
    roots.edges.push_back(gradient_edge(output));
  }
  return roots;
}

std::vector<Edge> edges_of(const std::vector<Tensor>& inputs) {
  std::vector<Edge> edges;
  for (const Tensor& input : inputs) {
    TENON_CHECK(input.requires_grad(), "One of the differentiated Tensors does not require grad");
    edges.push_back(gradient_edge(input));
  }
  return edges;
}

std::vector<Tensor> grad_of(const Roots& roots, std::vector<Edge> inputs,
                            std::optional<bool> retain_graph, bool create_graph,
                            bool allow_unused) {
  TENON_CHECK_VALUE(!inputs.empty(), "grad requires non-empty inputs.");
  const BackwardOptions options{.keep_graph = retain_graph.value_or(create_graph),
                                .create_graph = create_graph,
                                .targets = std::move(inputs),
                                .capture = true};
  std::vector<Tensor> grads = run_backward(roots.edges, roots.grads, options);
  for (size_t i = 0; i < grads.size(); ++i) {
    TENON_CHECK(grads[i].defined() || allow_unused, "The differentiated Tensor at index ", i,
                " appears to not have been used in the graph. Set allow_unused=True if this is the "
                "desired behavior.");
  }
  return grads;
}

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<Tensor>& inputs) {
  const Roots roots = make_roots(tensors, grad_tensors);
  BackwardOptions options{.keep_graph = retain_graph.value_or(create_graph),
                          .create_graph = create_graph,
                          .targets = std::nullopt,
                          .capture = false};
  if (!inputs.empty()) {
    options.targets = edges_of(inputs);
    // What is no leaf gets its gradient on the way.
    for (const Tensor& input : inputs) input.retain_grad();
  }
  run_backward(roots.edges, roots.grads, options);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused) {
  return grad_of(make_roots(outputs, grad_outputs), edges_of(inputs), retain_graph, create_graph,
                 allow_unused);
}

GradientEdge get_gradient_edge(const Tensor& tensor) {
  TENON_CHECK(
      tensor.requires_grad(),
      "It is not possible to get the gradient edge for a Tensor that does not require gradients");
  return gradient_edge(tensor);
}

std::vector<Tensor> grad(const std::vector<GradientEdge>& outputs,
                         const std::vector<GradientEdge>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused) {
  TENON_CHECK(grad_outputs.size() == outputs.size(), "got ", outputs.size(), " outputs and ",
              grad_outputs.size(), " gradients");
  for (const Tensor& g : grad_outputs) {
    TENON_CHECK(g.defined(), "a gradient edge needs its grad_output, got an undefined one");
  }
  return grad_of({outputs, grad_outputs}, inputs, retain_graph, create_graph, allow_unused);
}

void set_grad(const Tensor& tensor, const Tensor& grad) {
  if (grad.defined()) {
    TENON_CHECK(grad.sizes() == tensor.sizes(), "attempting to assign a gradient of size '",
                grad.sizes(), "' to a tensor of size '", tensor.sizes(),
                "'. Please ensure that the gradient and the tensor are the same size");
    TENON_CHECK(grad.scalar_type() == tensor.scalar_type(),
                "attempting to assign a gradient with dtype '", grad.scalar_type(),
                "' to a tensor with dtype '", tensor.scalar_type(), "'");
    TENON_CHECK(grad.device() == tensor.device(), "attempting to assign a gradient on device '",
                grad.device(), "' to a tensor on device '", tensor.device(), "'");
    TENON_CHECK(!grad.is_same(tensor), "can't assign Variable as its own grad");
  }
  Tensor value = grad;
  meta_of(*tensor.unsafe_impl()).swap_grad(value);
}

HookHandle register_post_accumulate_grad_hook(const Tensor& leaf, PostAccumulateHook hook) {
  TENON_CHECK(leaf.requires_grad(),
              "cannot register a hook on a tensor that doesn't require gradient");
  TENON_CHECK(leaf.is_leaf(),
              "post accumulate grad hooks cannot be registered on non-leaf tensors");
  return meta_of(*leaf.unsafe_impl()).hooks.get_or_make().post_accumulate.add(std::move(hook));
}

}  // namespace tenon::autograd
