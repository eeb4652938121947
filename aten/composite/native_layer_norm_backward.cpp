#include "tenon/native/native_layer_norm_backward.h"

#include "aten/composite/to_opmath_type.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"

namespace tenon {
namespace {

constexpr const char* kOp = "native_layer_norm_backward";

/// What it reads must be what the forward pass read and gave: grad_out [..., normalized_shape...]
/// like input, one mean and one rstd per row, weight of normalized_shape. The number of the leading
/// dimensions.
int64_t check(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape,
              const Tensor& mean, const Tensor& rstd, const std::optional<Tensor>& weight) {
  TENON_CHECK(grad_out.sizes() == input.sizes(), "[", kOp,
              "] Expected grad_out to have the input's shape ", input.sizes(), ", got ",
              grad_out.sizes());
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  TENON_CHECK(leading >= 0 && input.sizes().slice(leading) == normalized_shape, "[", kOp,
              "] Expected input of shape [*, ", normalized_shape, "], got ", input.sizes());
  const int64_t rows = numel_of(input.sizes().slice(0, leading));
  TENON_CHECK(mean.numel() == rows && rstd.numel() == rows, "[", kOp, "] Expected ", rows,
              " values in mean and rstd, got ", mean.numel(), " and ", rstd.numel());
  TENON_CHECK(!weight || weight->sizes() == normalized_shape, "[", kOp,
              "] Expected weight of shape ", normalized_shape, ", got ",
              weight ? weight->sizes() : IntArrayRef());
  TENON_CHECK(!input.is_complex() && !grad_out.is_complex() && !mean.is_complex() &&
                  !rstd.is_complex() && (!weight || !weight->is_complex()),
              "[", kOp, "] is not implemented for complex tensors");
  return leading;
}

std::optional<Tensor> given(const std::optional<Tensor>& t) {
  return t && t->defined() ? t : std::nullopt;
}

}  // namespace

/// Gradients of input, weight and bias, those in the mask, each in its own dtype: with
/// g = grad_out * weight and h = (input - mean) * rstd,
///   input: rstd * (g - mean(g) - h * mean(g * h));  weight: sum of grad_out * h over the rows;
///   bias: that of grad_out.
std::tuple<Tensor, Tensor, Tensor> native::native_layer_norm_backward(
    const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
    const Tensor& rstd, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    std::array<bool, 3> output_mask) {
  const std::optional<Tensor> w = given(weight), b = given(bias);
  const int64_t leading = check(grad_out, input, normalized_shape, mean, rstd, w);
  DimVector outer, inner, statistics(input.sizes());
  for (int64_t d = 0; d < input.dim(); ++d) (d < leading ? outer : inner).push_back(d);
  for (const int64_t d : inner) statistics[d] = 1;
  const auto over_row = [&](const Tensor& t) { return tenon::mean(t, IntArrayRef(inner), true); };
  // Without leading dimensions there is one row: nothing to add up.
  const auto over_rows = [&](const Tensor& t) {
    return outer.empty() ? t : sum(t, IntArrayRef(outer));
  };
  const Tensor grad = to_opmath_type(grad_out), s = reshape(to_opmath_type(rstd), statistics);
  const Tensor h = mul(sub(to_opmath_type(input), reshape(to_opmath_type(mean), statistics)), s);
  const auto like = [&](const std::optional<Tensor>& parameter) {
    return parameter ? parameter->scalar_type() : input.scalar_type();
  };
  std::tuple<Tensor, Tensor, Tensor> grads;
  if (output_mask[0]) {
    const Tensor g = w ? mul(grad, to_opmath_type(*w)) : grad;
    const Tensor dx = mul(s, sub(sub(g, over_row(g)), mul(h, over_row(mul(g, h)))));
    std::get<0>(grads) = dx.to(input.scalar_type());
  }
  if (output_mask[1]) std::get<1>(grads) = over_rows(mul(grad, h)).to(like(w));
  if (output_mask[2]) std::get<2>(grads) = over_rows(grad).to(like(b));
  return grads;
}

}  // namespace tenon
