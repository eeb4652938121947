#include "tenon/native/linear.h"

#include "aten/common/contiguous.h"
#include "aten/cpu/product.h"

namespace tenon {
namespace {

void check(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  TENON_CHECK(input.dim() >= 1 && (weight.dim() == 1 || weight.dim() == 2),
              "[linear] needs an input of at least 1 dimension and a weight of 1 or 2, got shapes ",
              input.sizes(), " and ", weight.sizes());
  const int64_t in = input.size(-1), out = weight.dim() == 2 ? weight.size(0) : 1;
  TENON_CHECK(weight.size(-1) == in, "[linear] mat1 and mat2 shapes cannot be multiplied (",
              in == 0 ? 0 : input.numel() / in, "x", in, " and ", weight.size(-1), "x", out, ")");
  TENON_CHECK(weight.scalar_type() == input.scalar_type(),
              "[linear] mat1 and mat2 must have the same dtype, but got ", input.scalar_type(),
              " and ", weight.scalar_type());
  TENON_CHECK(weight.is_cpu(), "[linear] Expected all tensors to be on the same device, got ",
              input.device(), " and ", weight.device());
  if (!bias || !bias->defined()) return;
  TENON_CHECK(bias->scalar_type() == input.scalar_type() && bias->is_cpu(),
              "[linear] bias needs the input's dtype and device, got ", bias->scalar_type(), " on ",
              bias->device(), " for ", input.scalar_type(), " on ", input.device());
  TENON_CHECK(bias->numel() == out || bias->numel() == 1,
              "[linear] The expanded size of bias must be ", out, ", got shape ", bias->sizes());
}

}  // namespace

/// out[..., o] = sum_i input[..., i] weight[o, i] + bias[o]: one product with the bias fused.
Tensor native::linear_cpu(const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias) {
  check(input, weight, bias);
  const int64_t features = input.size(-1), outputs = weight.dim() == 2 ? weight.size(0) : 1;
  DimVector sizes(input.sizes());
  if (weight.dim() == 2) {
    sizes.back() = outputs;
  } else {
    sizes.pop_back();
  }
  Tensor out = empty(sizes, input.scalar_type(), input.device());
  if (out.numel() == 0) return out;

  // Two dimensions may be strided in any way; more are collapsed, which needs one stride for the
  // rows.
  const TensorBase rows =
      input.dim() <= 2 ? static_cast<const TensorBase&>(input) : contiguous(input);
  MatrixBatch a = contiguous_matrix(rows.data_ptr(), features);
  if (rows.dim() == 2) a = matrices_of(rows);
  if (rows.dim() == 1) a = {rows.data_ptr(), 0, 0, rows.stride(0)};
  const MatrixBatch w{weight.data_ptr(), 0, weight.dim() == 2 ? weight.stride(0) : 0,
                      weight.stride(-1)};

  TensorBase row_bias;
  if (bias && bias->defined()) {
    if (bias->numel() == outputs) {
      row_bias = contiguous(*bias);
    } else {
      row_bias = contiguous(make_view(*bias, outputs, 0, bias->storage_offset()));
    }
  }
  matrix_product("linear", input.scalar_type(), {1, out.numel() / outputs, outputs, features}, 1, a,
                 w.transposed(), 0, contiguous_matrix(out.data_ptr(), outputs),
                 row_bias.defined() ? row_bias.data_ptr() : nullptr);
  return out;
}

}  // namespace tenon
