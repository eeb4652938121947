// Convolutions of dtypes that the engines do not compute: complex ones by the convolutions of their
// parts, integers by the definition.
#include "aten/cpu/convolution_other.h"

#include "aten/common/complex_parts.h"
#include "aten/common/contiguous.h"
#include "aten/iterator/element_copy.h"
#include "tenon/native/convolution.h"
#include "tenon/native/convolution_backward.h"
#include "tenon/ops/add.h"
#include "tenon/ops/sub.h"

namespace tenon::native {
namespace {

struct Parts {
  explicit Parts(const TensorBase& t) {
    const ComplexParts parts = complex_parts(t);
    real = Tensor(contiguous(parts.real));
    imag = Tensor(contiguous(parts.imag));
  }
  Tensor real, imag;
};

/// The complex tensor real + i imag, where both are there.
void join(const TensorBase& out, const Tensor& real, const Tensor& imag) {
  const ComplexParts parts = complex_parts(out);
  copy(parts.real, real);
  copy(parts.imag, imag);
}

Tensor joined(const Tensor& real, const Tensor& imag, ScalarType dtype) {
  if (!real.defined()) return {};
  Tensor out(empty(real.sizes(), dtype, kCPU));
  join(out, real, imag);
  return out;
}

Tensor added(const Tensor& a, const Tensor& b) {
  return a.defined() ? ops::add_Tensor::call(a, b, 1) : Tensor();
}
Tensor subtracted(const Tensor& a, const Tensor& b) {
  return a.defined() ? ops::sub_Tensor::call(a, b, 1) : Tensor();
}

}  // namespace

void convolution_complex(const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                         IntArrayRef dilation, bool transposed, int64_t groups, const Tensor& out) {
  const Parts x(input), w(weight);
  std::optional<Tensor> real_bias, imag_bias;
  if (bias && bias->defined()) {
    const Parts b(*bias);
    real_bias = b.real;
    imag_bias = b.imag;
  }
  const auto part = [&](const Tensor& a, const Tensor& b, const std::optional<Tensor>& c) {
    const Tensor result(empty(out.sizes(), a.scalar_type(), kCPU));
    convolution_cpu(a, b, c, stride, padding, dilation, transposed, {}, groups, result);
    return result;
  };
  join(out, subtracted(part(x.real, w.real, real_bias), part(x.imag, w.imag, std::nullopt)),
       added(part(x.real, w.imag, imag_bias), part(x.imag, w.real, std::nullopt)));
}

std::tuple<Tensor, Tensor, Tensor>
convolution_backward_complex(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                             bool transposed, IntArrayRef output_padding, int64_t groups,
                             std::array<bool, 3> output_mask) {
  const Parts dy(grad_output), x(input), w(weight);
  const auto part = [&](const Tensor& a, const Tensor& b, const Tensor& c, bool with_bias) {
    return convolution_backward_cpu(a, b, c, {}, stride, padding, dilation, transposed,
                                    output_padding, groups,
                                    {output_mask[0], output_mask[1], with_bias && output_mask[2]});
  };
  // dy times the conjugates of weight and input.
  const auto [x0, w0, real_bias] = part(dy.real, x.real, w.real, true);
  const auto [x1, w1, none1] = part(dy.imag, x.imag, w.imag, false);
  const auto [x2, w2, imag_bias] = part(dy.imag, x.real, w.real, true);
  const auto [x3, w3, none3] = part(dy.real, x.imag, w.imag, false);
  const ScalarType dtype = input.scalar_type();
  return {joined(added(x0, x1), subtracted(x2, x3), dtype),
          joined(added(w0, w1), subtracted(w2, w3), dtype), joined(real_bias, imag_bias, dtype)};
}

void convolution_long(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      bool transposed, int64_t groups, const Tensor& out) {
  const TensorBase x = contiguous(input), w = contiguous(weight);
  const TensorBase result = empty(out.sizes(), kLong, kCPU);
  const int64_t outer = result.size(0) * result.size(1), inner = result.numel() / outer;
  // Unsigned, so that sums and products wrap around.
  auto* to = static_cast<uint64_t*>(result.data_ptr());
  const auto* from = static_cast<const uint64_t*>(x.const_data_ptr());
  const auto* factors = static_cast<const uint64_t*>(w.const_data_ptr());
  for (int64_t i = 0; i < outer; ++i) {
    const uint64_t start =
        bias && bias->defined()
            ? static_cast<uint64_t>(contiguous(*bias).data_ptr<int64_t>()[i % result.size(1)])
            : 0;
    std::fill_n(to + i * inner, inner, start);
  }
  // A transposed convolution goes the same ways from where the other one ends to where it begins.
  const TensorBase& large = transposed ? result : x;
  const TensorBase& small = transposed ? x : result;
  const ConvGeometry g = conv_geometry(large, w, small, stride, padding, dilation, groups);
  const int64_t channels = g.channels / groups, outputs = g.outputs / groups;
  const auto place = [&](int d, int64_t at, int64_t k) {
    return at * g.stride[d] - g.padding[d] + k * g.dilation[d];
  };
  const auto inside = [&](int d, int64_t i) { return i >= 0 && i < g.in[d]; };
  for (int64_t n = 0; n < g.batch * g.outputs * g.channels / groups; ++n) {
    const int64_t c = n % channels, o = n / channels % g.outputs, b = n / channels / g.outputs;
    const int64_t in_plane = (b * g.channels + o / outputs * channels + c) * g.in_size();
    const int64_t out_plane = (b * g.outputs + o) * g.out_size();
    const uint64_t* kernel = factors + (o * channels + c) * g.kernel_size();
    for (int64_t p = 0; p < g.out_size(); ++p) {
      const int64_t p2 = p % g.out[2], p1 = p / g.out[2] % g.out[1], p0 = p / g.out[2] / g.out[1];
      for (int64_t k = 0; k < g.kernel_size(); ++k) {
        const int64_t k2 = k % g.kernel[2], k1 = k / g.kernel[2] % g.kernel[1],
                      k0 = k / g.kernel[2] / g.kernel[1];
        const int64_t i0 = place(0, p0, k0), i1 = place(1, p1, k1), i2 = place(2, p2, k2);
        if (!inside(0, i0) || !inside(1, i1) || !inside(2, i2)) continue;
        const int64_t at = in_plane + (i0 * g.in[1] + i1) * g.in[2] + i2;
        if (transposed) {
          to[at] += from[out_plane + p] * kernel[k];
        } else {
          to[out_plane + p] += from[at] * kernel[k];
        }
      }
    }
  }
  copy(out, result);
}

}  // namespace tenon::native
