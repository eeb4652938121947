#pragma once

#include "aten/core/thread_state.h"
#include "autograd/function.h"
#include "autograd/node.h"

namespace tenon::autograd {

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

/// The gradients with respect to `inputs`, in their order; no grad() is changed. An input that the
/// outputs do not depend on is an error unless allow_unused, and then its gradient is undefined.
TENON_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& grad_outputs = {},
                                   std::optional<bool> retain_graph = std::nullopt,
                                   bool create_graph = false, bool allow_unused = false);

/// A place in the graph in the stead of a tensor: it owns the graph behind it, and stays what it is
/// when the tensor is changed in place.
using GradientEdge = Edge;
/// The place where the gradient of `tensor` arrives. Throws unless it requires grad.
TENON_API GradientEdge get_gradient_edge(const Tensor& tensor);
/// grad() between places; every grad_output must be given.
TENON_API std::vector<Tensor> grad(const std::vector<GradientEdge>& outputs,
                                   const std::vector<GradientEdge>& inputs,
                                   const std::vector<Tensor>& grad_outputs,
                                   std::optional<bool> retain_graph = std::nullopt,
                                   bool create_graph = false, bool allow_unused = false);

/// Makes `grad` the tensor's grad(). Unlike mutable_grad() it throws unless that has the tensor's
/// sizes, dtype and device; undefined: none.
TENON_API void set_grad(const Tensor& tensor, const Tensor& grad);

/// Like Tensor::register_hook(), whose number names the hook to that tensor alone.
TENON_API HookHandle register_hook(const Tensor& tensor, TensorHook hook);

/// Calls `hook` with the leaf each time its grad() has been added to. Throws unless `leaf` is a
/// leaf that requires grad.
TENON_API HookHandle register_post_accumulate_grad_hook(const Tensor& leaf,
                                                        PostAccumulateHook hook);

}  // namespace tenon::autograd
