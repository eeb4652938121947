#include "aten/composite/convolution_lists.h"
#include "tenon/native/conv1d.h"
#include "tenon/native/conv2d.h"
#include "tenon/native/conv3d.h"
#include "tenon/native/conv_transpose1d.h"
#include "tenon/native/conv_transpose2d.h"
#include "tenon/native/conv_transpose3d.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/convolution.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon {
namespace {

using Bias = std::optional<Tensor>;

struct Lists {
  DimVector stride, padding, dilation, output_padding;
};

/// A convolution of `dims` spatial dimensions of an input with or without a batch.
Tensor convolve(const char* op, int64_t dims, const Tensor& input, const Tensor& weight,
                const Bias& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                bool transposed, IntArrayRef output_padding, int64_t groups) {
  TENON_CHECK(input.dim() == dims + 1 || input.dim() == dims + 2, "[", op, "] Expected ", dims + 1,
              "D (unbatched) or ", dims + 2, "D (batched) input to ", op,
              ", but got input of size: ", input.sizes());
  const Lists lists{native::per_dimension(op, "stride", stride, dims),
                    native::per_dimension(op, "padding", padding, dims),
                    native::per_dimension(op, "dilation", dilation, dims),
                    native::per_dimension(op, "output_padding", output_padding, dims)};
  const bool batched = input.dim() == dims + 2;
  const Tensor out =
      convolution(batched ? input : unsqueeze(input, 0), weight, bias, lists.stride, lists.padding,
                  lists.dilation, transposed, lists.output_padding, groups);
  return batched ? out : squeeze(out, 0);
}

/// padding "valid" (none) or "same" (the output as large as the input; what does not divide evenly
/// goes to the right).
Tensor convolve_padded(const char* op, int64_t dims, const Tensor& input, const Tensor& weight,
                       const Bias& bias, IntArrayRef stride, std::string_view padding,
                       IntArrayRef dilation, int64_t groups) {
  if (padding == "valid") {
    return convolve(op, dims, input, weight, bias, stride, 0, dilation, false, 0, groups);
  }
  TENON_CHECK(padding == "same", "[", op, "] Invalid padding string: '", padding,
              "', expected 'valid' or 'same'");
  TENON_CHECK(weight.dim() == dims + 2, "[", op, "] Expected ", weight.dim(),
              "-dimensional input for ", weight.dim(), "-dimensional weight ", weight.sizes(),
              ", but got ", input.dim(), "-dimensional input of size ", input.sizes(),
              " instead; a weight of ", op, " has ", dims + 2, " dimensions");
  for (const int64_t s : stride) {
    TENON_CHECK(s == 1, "[", op,
                "] padding='same' is not supported for strided convolutions, got stride=", stride);
  }
  const DimVector spread = native::per_dimension(op, "dilation", dilation, dims);
  DimVector both, extra(static_cast<size_t>(2 * dims), 0);
  bool even = true;
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t total = spread[i] * (weight.size(i + 2) - 1);
    both.push_back(total / 2);
    extra[2 * (dims - 1 - i) + 1] = total % 2;
    even = even && total % 2 == 0;
  }
  return convolve(op, dims, even ? input : constant_pad_nd(input, extra), weight, bias, stride,
                  both, spread, false, 0, groups);
}

}  // namespace

Tensor native::conv1d(const Tensor& input, const Tensor& weight, const Bias& bias,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      int64_t groups) {
  return convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, false, 0, groups);
}

Tensor native::conv2d(const Tensor& input, const Tensor& weight, const Bias& bias,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      int64_t groups) {
  return convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, false, 0, groups);
}

Tensor native::conv3d(const Tensor& input, const Tensor& weight, const Bias& bias,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      int64_t groups) {
  return convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, false, 0, groups);
}

Tensor native::conv1d_padding(const Tensor& input, const Tensor& weight, const Bias& bias,
                              IntArrayRef stride, std::string_view padding, IntArrayRef dilation,
                              int64_t groups) {
  return convolve_padded("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}

Tensor native::conv2d_padding(const Tensor& input, const Tensor& weight, const Bias& bias,
                              IntArrayRef stride, std::string_view padding, IntArrayRef dilation,
                              int64_t groups) {
  return convolve_padded("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}

Tensor native::conv3d_padding(const Tensor& input, const Tensor& weight, const Bias& bias,
                              IntArrayRef stride, std::string_view padding, IntArrayRef dilation,
                              int64_t groups) {
  return convolve_padded("conv3d", 3, input, weight, bias, stride, padding, dilation, groups);
}

Tensor native::conv_transpose1d(const Tensor& input, const Tensor& weight, const Bias& bias,
                                IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                                int64_t groups, IntArrayRef dilation) {
  return convolve("conv_transpose1d", 1, input, weight, bias, stride, padding, dilation, true,
                  output_padding, groups);
}

Tensor native::conv_transpose2d_input(const Tensor& input, const Tensor& weight, const Bias& bias,
                                      IntArrayRef stride, IntArrayRef padding,
                                      IntArrayRef output_padding, int64_t groups,
                                      IntArrayRef dilation) {
  return convolve("conv_transpose2d", 2, input, weight, bias, stride, padding, dilation, true,
                  output_padding, groups);
}

Tensor native::conv_transpose3d_input(const Tensor& input, const Tensor& weight, const Bias& bias,
                                      IntArrayRef stride, IntArrayRef padding,
                                      IntArrayRef output_padding, int64_t groups,
                                      IntArrayRef dilation) {
  return convolve("conv_transpose3d", 3, input, weight, bias, stride, padding, dilation, true,
                  output_padding, groups);
}

}  // namespace tenon
