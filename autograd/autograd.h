#pragma once

#include "aten/core/thread_state.h"
#include "autograd/node.h"

namespace tenon::autograd {

/// Gradients of sum(tensors . grad_tensors) with respect to the leaves, added to their grad().
/// A tensor of one element needs no entry of grad_tensors.
///   retain_graph   keep the graph for another run; default: create_graph
///   create_graph   record the run itself, for gradients of gradients
///   inputs         only these accumulate; not all leaves
TENON_API void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {},
                        std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                        const std::vector<Tensor>& inputs = {});

/// The gradients with respect to `inputs`, in their order; no grad() is changed. An input that the
/// outputs do not depend on is an error unless allow_unused, and then its gradient is undefined.
TENON_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& grad_outputs = {},
                                   std::optional<bool> retain_graph = std::nullopt,
                                   bool create_graph = false, bool allow_unused = false);

}  // namespace tenon::autograd
