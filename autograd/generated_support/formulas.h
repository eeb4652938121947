#pragma once

#include "autograd/engine/node.h"

/// Functions that the formulas of derivatives.yaml use besides operators.
namespace tenon::autograd {

/// The sizes of each tensor of a list.
TENON_API std::vector<std::vector<int64_t>> to_args_sizes(TensorList tensors);

/// Parts of `grad` for the inputs of cat(tensors, dim), which had these sizes.
TENON_API std::vector<Tensor> cat_tensors_backward(const Tensor& grad,
                                                   const std::vector<std::vector<int64_t>>& sizes,
                                                   int64_t dim);

/// The gradient of a tensor that was cut into pieces along `dim`; undefined pieces count as zeros.
TENON_API Tensor split_backward(const variable_list& grads, int64_t split_size, int64_t dim,
                                IntArrayRef sizes, const TensorOptions& options);
TENON_API Tensor split_with_sizes_backward(const variable_list& grads, IntArrayRef split_sizes,
                                           int64_t dim, IntArrayRef sizes,
                                           const TensorOptions& options);
/// The same for pieces of size one whose dimension was dropped.
TENON_API Tensor unbind_backward(const variable_list& grads, int64_t dim, IntArrayRef sizes,
                                 const TensorOptions& options);

/// `tensor * number`, and the tensor itself where that is one.
TENON_API Tensor maybe_multiply(const Tensor& tensor, const Scalar& number);
/// The same with a factor that may be absent.
TENON_API Tensor maybe_multiply(const Tensor& tensor, const std::optional<Tensor>& factor);
/// A vector of numbers for the channels, [C], as [1, C, 1, ...] of `dim` dimensions.
TENON_API Tensor of_channels(const Tensor& numbers, int64_t dim);

}  // namespace tenon::autograd
