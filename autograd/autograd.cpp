#include "autograd/autograd.h"

#include "aten/core/thread_state.h"
#include "autograd/batched.h"
#include "autograd/engine/accumulate_grad.h"
#include "autograd/engine/engine.h"
#include "autograd/meta.h"
#include "tenon/ops/add.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {
namespace {

struct Roots {
  std::vector<Edge> edges;
  std::vector<Tensor> grads;
};

void check_implicit_grad(int64_t numel, ScalarType dtype) {
  TENON_CHECK(numel == 1, "grad can be implicitly created only for scalar outputs");
  TENON_CHECK(!is_complex(dtype),
              "grad can be implicitly created only for real scalar outputs but got ",
              dtype == kComplexFloat ? "torch.complex64" : "torch.complex128");
}

Tensor implicit_grad(const Tensor& output) {
  check_implicit_grad(output.numel(), output.scalar_type());
  const NoGradGuard no_grad;
  return ones_like(output, {}, MemoryFormat::Preserve);
}

Tensor implicit_grad(const InputMetadata& output) {
  check_implicit_grad(numel_of(output.sizes()), output.dtype());
  return ones(output.sizes(), TensorOptions().dtype(output.dtype()).device(output.device()));
}

void check_output(const Tensor& output, size_t i) {
  TENON_CHECK(output.requires_grad(), "element ", i,
              " of tensors does not require grad and does not have a grad_fn");
}

void check_grad_dtype(const Tensor& given, ScalarType dtype, size_t i) {
  TENON_CHECK(
      given.is_complex() == is_complex(dtype),
      "For complex Tensors, both grad_output and output are required to have the same dtype. "
      "Mismatch in dtype: grad_output[",
      i, "] has a dtype of ", given.scalar_type(), " and output[", i, "] has a dtype of ", dtype,
      ".");
}

void check_grad_output(const Tensor& given, IntArrayRef sizes, ScalarType dtype, size_t i) {
  TENON_CHECK(given.sizes() == sizes, "Mismatch in shape: grad_output[", i,
              "] has a shape of torch.Size(", given.sizes(), ") and output[", i,
              "] has a shape of torch.Size(", sizes, ").");
  check_grad_dtype(given, dtype, i);
}

void check_count(size_t outputs, size_t grads) {
  TENON_CHECK(grads == 0 || grads == outputs, "got ", outputs, " tensors and ", grads,
              " gradients");
}

Roots make_roots(const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads) {
  check_count(outputs.size(), grads.size());
  Roots roots;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    check_output(output, i);
    const bool given = i < grads.size() && grads[i].defined();
    if (given) check_grad_output(grads[i], output.sizes(), output.scalar_type(), i);
    roots.grads.push_back(given ? grads[i] : implicit_grad(output));
    roots.edges.push_back(gradient_edge(output));
  }
  return roots;
}

const InputMetadata& output_at(const GradientEdge& edge) {
  TENON_CHECK(edge.is_valid() && edge.input_nr < edge.function->num_inputs(),
              "a gradient edge leads nowhere");
  return edge.function->input_metadata(edge.input_nr);
}

Roots make_roots(const std::vector<GradientEdge>& outputs, const std::vector<Tensor>& grads) {
  check_count(outputs.size(), grads.size());
  Roots roots{outputs, {}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const InputMetadata& output = output_at(outputs[i]);
    const bool given = i < grads.size() && grads[i].defined();
    if (given) check_grad_output(grads[i], output.sizes(), output.dtype(), i);
    roots.grads.push_back(given ? grads[i] : implicit_grad(output));
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

/// Until the end of the scope nodes compute with operators alone, which take batched gradients.
class OperatorsAlone {
 public:
  explicit OperatorsAlone(bool batched) : previous_(thread_state.batched_gradients) {
    thread_state.batched_gradients |= batched;
  }
  ~OperatorsAlone() { thread_state.batched_gradients = previous_; }
  OperatorsAlone(const OperatorsAlone&) = delete;
  OperatorsAlone& operator=(const OperatorsAlone&) = delete;

 private:
  bool previous_;
};

std::vector<Tensor> grad_of(const Roots& roots, std::vector<Edge> inputs,
                            const GradOptions& options) {
  TENON_CHECK_VALUE(!inputs.empty(), "grad requires non-empty inputs.");
  const OperatorsAlone alone(is_any_batched(roots.grads));
  std::vector<Tensor> grads =
      run_backward(roots.edges, roots.grads,
                   {.keep_graph = options.retain_graph.value_or(options.create_graph),
                    .create_graph = options.create_graph,
                    .targets = std::move(inputs),
                    .capture = true});
  for (size_t i = 0; i < grads.size(); ++i) {
    TENON_CHECK(grads[i].defined() || options.allow_unused.value_or(options.materialize_grads),
                "The differentiated Tensor at index ", i,
                " appears to not have been used in the graph. Set allow_unused=True if this is the "
                "desired behavior.");
  }
  return grads;
}

/// The number of rows that the gradients of outputs of these sizes have.
int64_t batch_size(const std::vector<IntArrayRef>& sizes, const std::vector<Tensor>& grads) {
  TENON_CHECK(grads.size() == sizes.size() && !grads.empty(), "got ", sizes.size(), " outputs and ",
              grads.size(), " gradients");
  for (size_t i = 0; i < grads.size(); ++i) {
    TENON_CHECK_VALUE(grads[i].defined() && grads[i].dim() > 0,
                      "If `is_grads_batched=True`, each grad_output must be given and have a batch "
                      "dimension, got ",
                      grads[i].defined() ? "a tensor without dimensions" : "none",
                      " as grad_output[", i, "]");
    TENON_CHECK(grads[i].sizes().slice(1) == sizes[i],
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                "grad_output[",
                i, "] has a shape of torch.Size(", grads[i].sizes().slice(1), ") and output[", i,
                "] has a shape of torch.Size(", sizes[i], ").");
    TENON_CHECK_VALUE(grads[i].size(0) == grads[0].size(0),
                      "Expected all tensors to have the same size in the mapped dimension, got "
                      "sizes ",
                      grads[0].size(0), " and ", grads[i].size(0),
                      " of grad_output[0] and grad_output[", i, "]");
  }
  return grads[0].size(0);
}

/// `roots`: with the gradients of all rows; `sizes`: of the outputs.
std::vector<Tensor> batched_grad(const Roots& roots, const std::vector<IntArrayRef>& sizes,
                                 const std::vector<Edge>& inputs, const GradOptions& options) {
  batch_size(sizes, roots.grads);
  return with_batched_rows(roots.grads, [&](const std::vector<Tensor>& grads) {
    return grad_of(Roots{roots.edges, grads}, inputs, options);
  });
}

std::vector<Tensor> batched_grad(const std::vector<Tensor>& outputs,
                                 const std::vector<Tensor>& inputs,
                                 const std::vector<Tensor>& grads, const GradOptions& options) {
  Roots roots{{}, grads};
  std::vector<IntArrayRef> sizes;
  for (size_t i = 0; i < outputs.size(); ++i) {
    check_output(outputs[i], i);
    if (i < grads.size() && grads[i].defined())
      check_grad_dtype(grads[i], outputs[i].scalar_type(), i);
    roots.edges.push_back(gradient_edge(outputs[i]));
    sizes.push_back(outputs[i].sizes());
  }
  return batched_grad(roots, sizes, edges_of(inputs), options);
}

std::vector<Tensor> batched_grad(const std::vector<GradientEdge>& outputs,
                                 const std::vector<GradientEdge>& inputs,
                                 const std::vector<Tensor>& grads, const GradOptions& options) {
  std::vector<IntArrayRef> sizes;
  for (const GradientEdge& output : outputs) sizes.push_back(output_at(output).sizes());
  return batched_grad(Roots{outputs, grads}, sizes, inputs, options);
}

void accumulate(const Roots& roots, std::optional<bool> retain_graph, bool create_graph,
                std::optional<std::vector<Edge>> inputs) {
  run_backward(roots.edges, roots.grads,
               {.keep_graph = retain_graph.value_or(create_graph),
                .create_graph = create_graph,
                .targets = std::move(inputs),
                .capture = false});
}

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<Tensor>& inputs) {
  TENON_CHECK(!is_any_batched(tensors) && !is_any_batched(grad_tensors),
              "[backward] adds to .grad, which has no place within vmap: use func.grad, or call "
              "backward() on what vmap returns");
  const Roots roots = make_roots(tensors, grad_tensors);
  std::optional<std::vector<Edge>> targets;
  if (!inputs.empty()) {
    targets = edges_of(inputs);
    // What is no leaf gets its gradient on the way.
    for (const Tensor& input : inputs) input.retain_grad();
  }
  accumulate(roots, retain_graph, create_graph, std::move(targets));
}

void backward(const std::vector<GradientEdge>& outputs, const std::vector<Tensor>& grad_outputs,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<GradientEdge>& inputs) {
  accumulate(make_roots(outputs, grad_outputs), retain_graph, create_graph,
             inputs.empty() ? std::nullopt : std::optional(inputs));
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, const GradOptions& options) {
  TENON_CHECK_VALUE(!options.materialize_grads || options.allow_unused.value_or(true),
                    "Expected allow_unused to be True or not passed when materialize_grads=True, "
                    "but got: allow_unused=False.");
  if (TENON_UNLIKELY(is_any_batched(outputs)))
    return grad_of_batched(outputs, inputs, grad_outputs, options);
  std::vector<Tensor> grads =
      options.is_grads_batched
          ? batched_grad(outputs, inputs, grad_outputs, options)
          : grad_of(make_roots(outputs, grad_outputs), edges_of(inputs), options);
  if (!options.materialize_grads) return grads;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined()) continue;
    grads[i] = zeros_like(inputs[i].detach()).requires_grad_(options.create_graph);
  }
  return grads;
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused) {
  return grad(outputs, inputs, grad_outputs,
              GradOptions{.retain_graph = retain_graph,
                          .create_graph = create_graph,
                          .allow_unused = allow_unused});
}

GradientEdge get_gradient_edge(const Tensor& tensor) {
  TENON_CHECK(
      tensor.requires_grad(),
      "It is not possible to get the gradient edge for a Tensor that does not require gradients");
  return gradient_edge(tensor);
}

std::vector<Tensor> grad(const std::vector<GradientEdge>& outputs,
                         const std::vector<GradientEdge>& inputs,
                         const std::vector<Tensor>& grad_outputs, const GradOptions& options) {
  const std::vector<Tensor> grads =
      options.is_grads_batched ? batched_grad(outputs, inputs, grad_outputs, options)
                               : grad_of(make_roots(outputs, grad_outputs), inputs, options);
  for (const Tensor& g : grads) {
    TENON_CHECK(g.defined() || !options.materialize_grads,
                "materialize_grads cannot be used when the given input is a GradientEdge");
  }
  return grads;
}

std::optional<ScalarType> grad_dtype(const Tensor& tensor) {
  const AutogradMeta* meta = tensor.unsafe_impl()->autograd_meta;
  const TensorHooks* extras = meta ? meta->hooks.get() : nullptr;
  return extras && extras->has_grad_dtype ? extras->grad_dtype : tensor.scalar_type();
}

void set_grad_dtype(const Tensor& leaf, std::optional<ScalarType> dtype) {
  TENON_CHECK(leaf.is_leaf(), "grad_dtype can only be set on leaf tensors.");
  AutogradMeta& meta = meta_of(*leaf.unsafe_impl());
  if (const Tensor grad = meta.current_grad(); grad.defined() && dtype) {
    TENON_CHECK(grad.scalar_type() == *dtype, "Cannot set grad_dtype to '", *dtype,
                "' because there is already a gradient with dtype '", grad.scalar_type(),
                "'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure "
                "the new grad_dtype matches the existing gradient's dtype.");
  }
  TensorHooks& extras = meta.hooks.get_or_make();
  const std::lock_guard lock(meta.accumulator_lock);
  extras.has_grad_dtype = dtype != leaf.scalar_type();
  extras.grad_dtype = dtype;
  if (meta.accumulator) meta.accumulator->leaf_has_changed(leaf);
}

void set_grad(const Tensor& tensor, const Tensor& grad) {
  if (grad.defined()) {
    TENON_CHECK(grad.sizes() == tensor.sizes(), "attempting to assign a gradient of size '",
                grad.sizes(), "' to a tensor of size '", tensor.sizes(),
                "'. Please ensure that the gradient and the tensor are the same size");
    const std::optional<ScalarType> dtype = grad_dtype(tensor);
    TENON_CHECK(!dtype || grad.scalar_type() == *dtype,
                "attempting to assign a gradient with dtype '", grad.scalar_type(),
                "' to a tensor with grad_dtype '", *dtype,
                "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
                "dtype), which may be a specific dtype, or None to allow any.");
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
