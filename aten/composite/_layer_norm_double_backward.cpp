#include "tenon/native/_layer_norm_double_backward.h"

#include "aten/composite/norm_double_backward.h"
#include "tenon/ops/reshape.h"

namespace tenon {

/// Gradients of grad_out, input and weight of native_layer_norm_backward.
std::tuple<Tensor, Tensor, Tensor> native::_layer_norm_double_backward(
    const std::optional<Tensor>& ggI, const std::optional<Tensor>& ggW,
    const std::optional<Tensor>& ggb, const Tensor& grad_out, const Tensor& input,
    IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
    const std::optional<Tensor>& weight, std::array<bool, 3> output_mask) {
  const int64_t first = input.dim() - static_cast<int64_t>(normalized_shape.size());
  TENON_CHECK(first >= 0,
              "[_layer_norm_double_backward] normalized_shape must have at most as many dimensions "
              "as the input, got ",
              normalized_shape, " and input of shape ", input.sizes());
  DimVector rows, columns;
  for (int64_t d = 0; d < input.dim(); ++d) (d < first ? rows : columns).push_back(d);
  const auto given = [](const std::optional<Tensor>& t) {
    return t && t->defined() ? *t : Tensor();
  };
  DimVector shape(static_cast<size_t>(first), 1);
  shape.append(normalized_shape.begin(), normalized_shape.end());
  const auto parameter = [&](const std::optional<Tensor>& t) {
    const Tensor p = given(t);
    return p.defined() ? reshape(p, shape) : p;
  };
  NormGradients g =
      norm_double_backward({input, grad_out, mean, rstd, parameter(weight), columns, rows, true},
                           given(ggI), parameter(ggW), parameter(ggb));
  if (g.weight.defined()) g.weight = reshape(g.weight, normalized_shape);
  return {output_mask[0] ? g.grad_out : Tensor(), output_mask[1] ? g.x : Tensor(),
          output_mask[2] ? g.weight : Tensor()};
}

}  // namespace tenon
