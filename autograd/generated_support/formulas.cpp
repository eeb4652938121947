#include "autograd/generated_support/formulas.h"

#include "tenon/ops/cat.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/zeros.h"

namespace tenon::autograd {

std::vector<std::vector<int64_t>> to_args_sizes(TensorList tensors) {
  std::vector<std::vector<int64_t>> sizes;
  for (const Tensor& t : tensors) sizes.push_back(t.sizes().vec());
  return sizes;
}

std::vector<Tensor> cat_tensors_backward(const Tensor& grad,
                                         const std::vector<std::vector<int64_t>>& sizes,
                                         int64_t dim) {
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const auto& size : sizes) {
    // Empty tensors of one dimension join anything and contribute nothing.
    if (size == std::vector<int64_t>{0}) {
      parts.push_back(zeros({0}, grad.options()));
      continue;
    }
    const int64_t length = size[static_cast<size_t>(wrap_dim(dim, grad.dim()))];
    parts.push_back(grad.narrow(dim, start, length));
    start += length;
  }
  return parts;
}

Tensor split_with_sizes_backward(const variable_list& grads, IntArrayRef split_sizes, int64_t dim,
                                 IntArrayRef sizes, const TensorOptions& options) {
  const auto d = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())));
  std::vector<Tensor> pieces;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined()) {
      pieces.push_back(grads[i]);
      continue;
    }
    DimVector size(sizes);
    size[d] = split_sizes[i];
    pieces.push_back(zeros(size, options));
  }
  return cat(pieces, static_cast<int64_t>(d));
}

Tensor split_backward(const variable_list& grads, int64_t split_size, int64_t dim,
                      IntArrayRef sizes, const TensorOptions& options) {
  const auto d = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())));
  std::vector<int64_t> split_sizes(grads.size(), split_size);
  split_sizes.back() = sizes[d] - split_size * static_cast<int64_t>(grads.size() - 1);
  return split_with_sizes_backward(grads, split_sizes, dim, sizes, options);
}

Tensor unbind_backward(const variable_list& grads, int64_t dim, IntArrayRef sizes,
                       const TensorOptions& options) {
  const auto d = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())));
  DimVector size(sizes);
  size.erase(size.begin() + d);
  std::vector<Tensor> pieces;
  for (const Tensor& g : grads) pieces.push_back(g.defined() ? g : zeros(size, options));
  return stack(pieces, static_cast<int64_t>(d));
}

Tensor maybe_multiply(const Tensor& tensor, const Scalar& number) {
  return number.equal(1) ? tensor : tensor * number;
}

Tensor maybe_multiply(const Tensor& tensor, const std::optional<Tensor>& factor) {
  return factor ? tensor * *factor : tensor;
}

Tensor of_channels(const Tensor& numbers, int64_t dim) {
  DimVector sizes(static_cast<size_t>(dim), 1);
  sizes[1] = numbers.numel();
  return numbers.reshape(sizes);
}

}  // namespace tenon::autograd
