#pragma once

#include "aten/core/thread_state.h"
#include "autograd/engine/node.h"
#include "autograd/function.h"

namespace tenon::autograd {

/// What PyTorch calls a tensor that may require grad.
using Variable = Tensor;
using tenon::AutoGradMode;
using tenon::GradMode;
using tenon::InferenceMode;
using tenon::NoGradGuard;

/// A tensor that shares the data of `data` and no history.
inline Variable make_variable(const Tensor& data, bool requires_grad = false) {
  return data.data().requires_grad_(requires_grad);
}

/// Gradients of sum(tensors . grad_tensors) with respect to the leaves, added to their grad().
/// A tensor of one element needs no entry of grad_tensors.
///   retain_graph   keep the graph for another run; default: create_graph
///   create_graph   record the run itself, for gradients of gradients
///   inputs         only these accumulate, also where they are no leaves; empty: all leaves
/// Errors: nothing to differentiate, a grad_tensor of other sizes, a graph that has been freed.
TENON_API void backward(const std::vector<Tensor>& tensors,
                        const std::vector<Tensor>& grad_tensors = {},
                        std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                        const std::vector<Tensor>& inputs = {});

struct GradOptions {
  /// Keep the graph for another run; not given: create_graph.
  std::optional<bool> retain_graph = std::nullopt;
  /// Record the run itself, for gradients of gradients.
  bool create_graph = false;
  /// Undefined gradients for inputs that the outputs do not depend on, instead of an error; not
  /// given: materialize_grads.
  std::optional<bool> allow_unused = std::nullopt;
  /// Zeros for such inputs, which require grad if the run is recorded. ValueError beside
  /// allow_unused = false, Error for such an input that is an edge.
  bool materialize_grads = false;
  /// The first dimension of every grad_output is that of a batch, [B, *output sizes], and each
  /// gradient is [B, *input sizes]. Rows are computed one after another; zeros of
  /// materialize_grads have no such dimension, as in PyTorch.
  bool is_grads_batched = false;
};

/// The gradients with respect to `inputs`, in their order; no grad() is changed.
TENON_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& grad_outputs,
                                   const GradOptions& options);
/// The same, with the arguments that PyTorch's function has in C++.
TENON_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& grad_outputs = {},
                                   std::optional<bool> retain_graph = std::nullopt,
                                   bool create_graph = false, bool allow_unused = false);

/// A place in the graph in the stead of a tensor: it owns the graph behind it, and stays what it is
/// when the tensor is changed in place.
using GradientEdge = Edge;
/// backward() from places in the graph. `inputs`: leaves' places accumulate; at other places the
/// pass ends.
TENON_API void backward(const std::vector<GradientEdge>& outputs,
                        const std::vector<Tensor>& grad_outputs,
                        std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                        const std::vector<GradientEdge>& inputs = {});
/// The place where the gradient of `tensor` arrives. Throws unless it requires grad.
TENON_API GradientEdge get_gradient_edge(const Tensor& tensor);
/// grad() between places.
TENON_API std::vector<Tensor> grad(const std::vector<GradientEdge>& outputs,
                                   const std::vector<GradientEdge>& inputs,
                                   const std::vector<Tensor>& grad_outputs,
                                   const GradOptions& options = {});

/// The dtype of the tensor's grad(), to which gradients are cast where they arrive: its own unless
/// set, nullopt: any, none is cast.
TENON_API std::optional<ScalarType> grad_dtype(const Tensor& tensor);
/// Of a leaf alone; Error also if it has a grad() of another dtype.
TENON_API void set_grad_dtype(const Tensor& leaf, std::optional<ScalarType> dtype);

/// Makes `grad` the tensor's grad(). Unlike mutable_grad() it throws unless that has the tensor's
/// sizes and device and its grad_dtype(); undefined: none.
TENON_API void set_grad(const Tensor& tensor, const Tensor& grad);

/// Like Tensor::register_hook(), whose number names the hook to that tensor alone.
TENON_API HookHandle register_hook(const Tensor& tensor, TensorHook hook);

/// Calls `hook` with the leaf each time its grad() has been added to. Throws unless `leaf` is a
/// leaf that requires grad.
TENON_API HookHandle register_post_accumulate_grad_hook(const Tensor& leaf,
                                                        PostAccumulateHook hook);

}  // namespace tenon::autograd
