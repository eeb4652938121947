#pragma once

#include <functional>

#include "autograd/autograd.h"

/// Derivatives of batched tensors. A graph is one of values: what is batched requires grad if its
/// value does, and its gradient is that of the value, example by example.
namespace tenon::autograd {

/// `value`, batched as `like` is.
TENON_API Tensor batched_like(const Tensor& like, const Tensor& value);
TENON_API bool is_any_batched(const std::vector<Tensor>& tensors);

/// grad() of outputs of which some are batched, one level after another. Error for an input that is
/// not batched at a level of the outputs: its gradient would be the sum over the examples.
std::vector<Tensor> grad_of_batched(const std::vector<Tensor>& outputs,
                                    const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& grad_outputs,
                                    const GradOptions& options);
/// Vectorised `is_grads_batched`: the rows of the gradients are the examples of a level.
std::vector<Tensor>
with_batched_rows(const std::vector<Tensor>& rows,
                  const std::function<std::vector<Tensor>(const std::vector<Tensor>& grads)>& pass);

/// What transforms of functions (grad, vjp, ...) do with the tensors of their functions.
namespace func {

/// An input of a function that is to be differentiated: batched at all levels of the thread, and a
/// leaf of its own, or an alias of a tensor that requires grad itself. RuntimeError for a dtype
/// without derivatives.
TENON_API Tensor fresh_input(const Tensor& t);
/// The gradients of the outputs with respect to fresh inputs, zeros where they do not depend on
/// them. `create_graph`: nothing: if a tensor besides the inputs requires grad.
TENON_API std::vector<Tensor> gradients(const std::vector<Tensor>& outputs,
                                        const std::vector<Tensor>& inputs,
                                        const std::vector<Tensor>& grad_outputs,
                                        std::optional<bool> create_graph,
                                        std::optional<bool> retain_graph);
/// The tensors as the caller of the transform gets them: without the graph, where it leads to the
/// fresh inputs alone.
TENON_API std::vector<Tensor> leave(const std::vector<Tensor>& tensors,
                                    const std::vector<Tensor>& inputs);

}  // namespace func
}  // namespace tenon::autograd
