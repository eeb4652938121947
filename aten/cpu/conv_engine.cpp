#include "aten/cpu/conv_depthwise.h"
#include "aten/cpu/conv_rows.h"
#include "aten/cpu/convolution.h"
#include "aten/cpu/onednn.h"
#include "aten/iterator/element_copy.h"

namespace tenon::native {
namespace {

TensorBase to_float(const TensorBase& t) {
  if (!t.defined()) return t;
  TensorBase f = empty(t.sizes(), kFloat, t.device());
  copy(f, t);
  return f;
}

TensorBase float_like(const TensorBase& t) {
  return t.defined() ? empty(t.sizes(), kFloat, t.device()) : TensorBase();
}

/// A row-major stand-in for a result that im2col cannot write to.
TensorBase plain_like(const TensorBase& t) {
  return t.is_contiguous() ? t : empty(t.sizes(), t.scalar_type(), t.device());
}

void deliver(const TensorBase& to, const TensorBase& from) {
  if (to.defined() && !to.is_same(from)) copy(to, from);
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
    conv_forward(g, to_float(src), to_float(weight), to_float(bias), result);
    return copy(dst, result);
  }
  const TensorBase result = plain_like(dst);
  im2col::forward(g, as_contiguous(src), weight, bias, result);
  deliver(dst, result);
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
    conv_backward_data(g, result, to_float(weight), to_float(diff_dst));
    return copy(diff_src, result);
  }
  const TensorBase result = plain_like(diff_src);
  im2col::backward_data(g, result, weight, as_contiguous(diff_dst));
  deliver(diff_src, result);
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
    conv_backward_weight(g, to_float(src), weight, bias, to_float(diff_dst));
    copy(diff_weight, weight);
    return deliver(diff_bias, bias);
  }
  im2col::backward_weight(g, as_contiguous(src), diff_weight, diff_bias, as_contiguous(diff_dst));
}

}  // namespace tenon::native
