#include "tenon/native/_batch_norm_double_backward.h"

#include "aten/composite/norm_double_backward.h"
#include "tenon/ops/add.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/rsqrt.h"
#include "tenon/ops/square.h"
#include "tenon/ops/sub.h"

namespace tenon {

/// Gradients of grad_out, input and weight of native_batch_norm_backward.
std::tuple<Tensor, Tensor, Tensor> native::_batch_norm_double_backward(
    const std::optional<Tensor>& ggI, const std::optional<Tensor>& ggW,
    const std::optional<Tensor>& ggb, const Tensor& grad_out, const Tensor& input,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var, bool train, double eps,
    std::array<bool, 3> output_mask) {
  DimVector shape(static_cast<size_t>(input.dim()), 1), dims;
  shape[1] = input.size(1);
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  const auto per_channel = [&](const std::optional<Tensor>& t) {
    return t && t->defined() ? reshape(*t, shape) : Tensor();
  };
  Normalised n{input, grad_out, {}, {}, per_channel(weight), dims, dims, train};
  Tensor variance;
  if (train) {
    n.mean = mean(input, IntArrayRef(dims), true);
    variance = mean(square(sub(input, n.mean)), IntArrayRef(dims), true);
  } else {
    n.mean = per_channel(running_mean);
    variance = per_channel(running_var);
  }
  n.rstd = rsqrt(add(variance, Scalar(eps)));
  NormGradients g = norm_double_backward(n, ggI && ggI->defined() ? *ggI : Tensor(),
                                         per_channel(ggW), per_channel(ggb));
  if (g.weight.defined()) g.weight = reshape(g.weight, input.size(1));
  return {output_mask[0] ? g.grad_out : Tensor(), output_mask[1] ? g.x : Tensor(),
          output_mask[2] ? g.weight : Tensor()};
}

}  // namespace tenon
