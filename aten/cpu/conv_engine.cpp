#include "aten/common/contiguous.h"
#include "aten/cpu/conv_depthwise.h"
#include "aten/cpu/conv_rows.h"
#include "aten/cpu/convolution.h"
#include "aten/cpu/onednn.h"
#include "aten/iterator/element_copy.h"

namespace tenon::native {
namespace {

TensorBase float_like(const TensorBase& t) {
  return t.defined() ? empty(t.sizes(), kFloat, t.device()) : TensorBase();
}

}  // namespace

void conv_forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
                  const TensorBase& bias, const TensorBase& dst) {
  if (conv_rows::applies(g, src, dst)) return conv_rows::forward(g, src, weight, bias, dst);
  if (conv_depthwise::applies(g, src, dst))
    return conv_depthwise::forward(g, src, weight, bias, dst);
  if (im2col::applies(g, src, dst)) return im2col::forward(g, src, weight, bias, dst);
  if (onednn::conv_forward(g, src, weight, bias, dst)) return;
  if (is_reduced_floating_point(src.scalar_type())) {
    const TensorBase result = float_like(dst);
    conv_forward(g, contiguous(src, kFloat), contiguous(weight, kFloat), contiguous(bias, kFloat),
                 result);
    return copy(dst, result);
  }
  const ContiguousOutput result(dst);
  im2col::forward(g, contiguous(src), weight, bias, result.tensor());
  result.copy_back();
}

void conv_backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                        const TensorBase& diff_dst) {
  if (conv_rows::applies(g, diff_src, diff_dst))
    return conv_rows::backward_data(g, diff_src, weight, diff_dst);
  if (conv_depthwise::applies(g, diff_src, diff_dst))
    return conv_depthwise::backward_data(g, diff_src, weight, diff_dst);
  if (im2col::applies(g, diff_src, diff_dst))
    return im2col::backward_data(g, diff_src, weight, diff_dst);
  if (onednn::conv_backward_data(g, diff_src, weight, diff_dst)) return;
  if (is_reduced_floating_point(diff_dst.scalar_type())) {
    const TensorBase result = float_like(diff_src);
    conv_backward_data(g, result, contiguous(weight, kFloat), contiguous(diff_dst, kFloat));
    return copy(diff_src, result);
  }
  const ContiguousOutput result(diff_src);
  im2col::backward_data(g, result.tensor(), weight, contiguous(diff_dst));
  result.copy_back();
}

void conv_backward_weight(const ConvGeometry& g, const TensorBase& src,
                          const TensorBase& diff_weight, const TensorBase& diff_bias,
                          const TensorBase& diff_dst) {
  if (conv_rows::applies(g, src, diff_dst)) {
    return conv_rows::backward_weight(g, src, diff_weight, diff_bias, diff_dst);
  }
  if (im2col::applies(g, src, diff_dst))
    return im2col::backward_weight(g, src, diff_weight, diff_bias, diff_dst);
  if (onednn::conv_backward_weight(g, src, diff_weight, diff_bias, diff_dst)) return;
  if (is_reduced_floating_point(src.scalar_type())) {
    const TensorBase weight = float_like(diff_weight), bias = float_like(diff_bias);
    conv_backward_weight(g, contiguous(src, kFloat), weight, bias, contiguous(diff_dst, kFloat));
    copy(diff_weight, weight);
    if (bias.defined()) copy(diff_bias, bias);
    return;
  }
  im2col::backward_weight(g, contiguous(src), diff_weight, diff_bias, contiguous(diff_dst));
}

}  // namespace tenon::native
