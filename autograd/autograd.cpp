#include "autograd/autograd.h"

#include "aten/core/thread_state.h"
#include "autograd/engine.h"
#include "autograd/meta.h"
#include "tenon/ops/ones_like.h"

namespace tenon::autograd {
namespace {

struct Roots {
  std::vector<Edge> edges;
  std::vector<Tensor> grads;
};

Tensor implicit_grad(const Tensor& output) {
  TENON_CHECK(output.numel() == 1, "grad can be implicitly created only for scalar outputs");
  TENON_CHECK(!output.is_complex(), "grad can be implicitly created only for real scalar outputs but got ",
              output.scalar_type());
  NoGradGuard no_grad;
  return ones_like(output, output.options());
}

Roots make_roots(const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads) {
  TENON_CHECK(grads.empty() || grads.size() == outputs.size(), "got ", outputs.size(), " tensors and ",
              grads.size(), " gradients");
  Roots roots;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    Edge edge = gradient_edge(output);
    TENON_CHECK(edge.is_valid(), "element ", i, " of tensors does not require grad and does not have a grad_fn");
    const Tensor given = i < grads.size() ? grads[i] : Tensor();
    if (given.defined()) {
      TENON_CHECK(given.sizes() == output.sizes(), "Mismatch in shape: grad_output[", i, "] has a shape of ",
                  given.sizes(), " and output[", i, "] has a shape of ", output.sizes(), ".");
      TENON_CHECK(given.is_complex() == output.is_complex(), "For complex Tensors, both grad_output and output are "
                  "required to have the same dtype. Mismatch in dtype: grad_output[", i, "] has a dtype of ",
                  given.scalar_type(), " and output[", i, "] has a dtype of ", output.scalar_type(), ".");
    }
    roots.edges.push_back(std::move(edge));
    roots.grads.push_back(given.defined() ? given : implicit_grad(output));
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

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const std::vector<Tensor>& inputs) {
  const Roots roots = make_roots(tensors, grad_tensors);
  BackwardOptions options{.keep_graph = retain_graph.value_or(create_graph),
                          .create_graph = create_graph, .capture = {}, .only = {}};
  std::vector<Tensor> not_leaves;
  for (const Tensor& input : inputs) {
    TENON_CHECK(input.requires_grad(), "One of the differentiated Tensors does not require grad");
    Edge edge = gradient_edge(input);
    if (input.is_leaf()) {
      options.only.push_back(std::move(edge));
    } else {
      options.capture.push_back(std::move(edge));
      not_leaves.push_back(input);
    }
  }
  const std::vector<Tensor> grads = run_backward(roots.edges, roots.grads, options);
  for (size_t i = 0; i < not_leaves.size(); ++i) {
    if (!grads[i].defined()) continue;
    Tensor& sum = not_leaves[i].mutable_grad();
    sum = sum.defined() ? sum + grads[i] : grads[i];
  }
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused) {
  TENON_CHECK_VALUE(!inputs.empty(), "grad requires non-empty inputs.");
  const Roots roots = make_roots(outputs, grad_outputs);
  const BackwardOptions options{.keep_graph = retain_graph.value_or(create_graph),
                                .create_graph = create_graph, .capture = edges_of(inputs), .only = {}};
  std::vector<Tensor> grads = run_backward(roots.edges, roots.grads, options);
  for (const Tensor& g : grads) {
    TENON_CHECK(g.defined() || allow_unused,
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior.");
  }
  return grads;
}

}  // namespace tenon::autograd
