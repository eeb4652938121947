#include "aten/cpu/convolution.h"

#include "aten/common/contiguous.h"
#include "aten/cpu/convolution_other.h"
#include "aten/iterator/element_copy.h"
#include "tenon/native/convolution.h"

namespace tenon {
namespace {

/// out[n, c, ...] += bias[c], for the transposed convolution, whose primitive has no bias.
void add_bias(const TensorBase& out, const TensorBase& bias) {
  const int64_t channels = out.size(1), batch = out.size(0),
                inner = out.numel() / (batch * channels);
  TENON_DISPATCH_FLOATING_AND_REDUCED(out.scalar_type(), "convolution", {
    const scalar_t* b = bias.data_ptr<scalar_t>();
    scalar_t* o = out.data_ptr<scalar_t>();
    if (!out.is_contiguous()) {  // channels last: the channels run fastest
      for (int64_t i = 0; i < batch * inner; ++i, o += channels) {
        for (int64_t c = 0; c < channels; ++c) o[c] = scalar_t(o[c] + b[c]);
      }
      return;
    }
    for (int64_t l = 0; l < batch * channels; ++l, o += inner) {
      const scalar_t value = b[l % channels];
      for (int64_t i = 0; i < inner; ++i) o[i] = scalar_t(o[i] + value);
    }
  });
}

}  // namespace

void native::convolution_cpu(const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, IntArrayRef stride,
                             IntArrayRef padding, IntArrayRef dilation, bool transposed,
                             IntArrayRef, int64_t groups, const Tensor& out) {
  if (out.numel() == 0) return;
  if (is_complex(out.scalar_type())) {
    return convolution_complex(input, weight, bias, stride, padding, dilation, transposed, groups,
                               out);
  }
  if (out.scalar_type() == kLong) {
    return convolution_long(input, weight, bias, stride, padding, dilation, transposed, groups,
                            out);
  }
  const std::optional<MemoryFormat> format = contiguous_format(out);
  const TensorBase result = format ? static_cast<const TensorBase&>(out)
                                   : empty(out.sizes(), out.scalar_type(), out.device());
  const TensorBase x = contiguous(input, input.scalar_type(),
                                  format.value_or(MemoryFormat::Contiguous)),
                   w = contiguous(weight);
  const TensorBase b = contiguous(bias);
  if (transposed) {
    conv_backward_data(conv_geometry(result, w, x, stride, padding, dilation, groups), result, w,
                       x);
    if (b.defined()) add_bias(result, b);
  } else {
    conv_forward(conv_geometry(x, w, result, stride, padding, dilation, groups), x, w, b, result);
  }
  if (!result.is_same(out)) copy(out, result);
}

}  // namespace tenon
