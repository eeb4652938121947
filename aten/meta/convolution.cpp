#include "aten/meta/convolution.h"

#include "aten/meta/checks.h"
#include "tenon/native/convolution.h"

namespace tenon {
namespace {

void check_list(const char* op, const char* name, IntArrayRef values, int64_t count, int64_t lowest,
                const char* complaint) {
  TENON_CHECK(static_cast<int64_t>(values.size()) == count, "[", op, "] expected ", name,
              " to be a single integer value or a list of ", count,
              " values to match the convolution dimensions, but got ", name, "=", values);
  for (const int64_t v : values)
    TENON_CHECK(v >= lowest, "[", op, "] ", complaint, ", got ", name, "=", values);
}

std::string by(const DimVector& sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? " x " : "") + std::to_string(sizes[i]);
  return text + ")";
}

void check_same_type(const char* op, const TensorBase& input, const char* name,
                     const TensorBase& other) {
  TENON_CHECK(input.scalar_type() == other.scalar_type(), "[", op, "] Input type (",
              input.scalar_type(), ") and ", name, " type (", other.scalar_type(),
              ") should be the same");
  meta::check_same_device(op, "input", input, name, other);
}

}  // namespace

DimVector meta::convolution_sizes(const char* op, const TensorBase& input, const TensorBase& weight,
                                  const TensorBase* bias, IntArrayRef stride, IntArrayRef padding,
                                  IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                                  int64_t groups) {
  const int64_t dims = weight.dim(), spatial = dims - 2;
  TENON_CHECK(dims >= 3 && dims <= 5, "[", op,
              "] weight should have at least three dimensions and at most ", "five, got shape ",
              weight.sizes());
  TENON_CHECK(input.dim() == dims, "[", op, "] Expected ", dims, "-dimensional input for ", dims,
              "-dimensional weight ", weight.sizes(), ", but got ", input.dim(),
              "-dimensional input of size ", input.sizes(), " instead");
  check_list(op, "stride", stride, spatial, 1, "non-positive stride is not supported");
  check_list(op, "padding", padding, spatial, 0, "negative padding is not supported");
  check_list(op, "dilation", dilation, spatial, 1, "dilation should be greater than zero");
  check_list(op, "output_padding", output_padding, spatial, 0,
             "negative output_padding is not supported");
  TENON_CHECK(groups > 0, "[", op, "] non-positive groups is not supported, got ", groups);
  TENON_CHECK(weight.size(0) >= groups, "[", op, "] Given groups=", groups,
              ", expected weight to be at least ", groups,
              " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  TENON_CHECK(weight.size(0) % groups == 0, "[", op, "] Given groups=", groups,
              ", expected weight to be divisible by ", groups,
              " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  const int64_t wanted = transposed ? weight.size(0) : weight.size(1) * groups;
  TENON_CHECK(input.size(1) == wanted, "[", op, "] Given ",
              transposed ? "transposed=1" : "groups=", transposed ? "" : std::to_string(groups),
              ", weight of size ", weight.sizes(), ", expected input", input.sizes(), " to have ",
              wanted, " channels, but got ", input.size(1), " channels instead");
  check_same_type(op, input, "weight", weight);
  const int64_t outputs = transposed ? weight.size(1) * groups : weight.size(0);
  if (bias) {
    TENON_CHECK(bias->dim() == 1 && bias->size(0) == outputs, "[", op, "] Given ",
                transposed ? "transposed=1, " : "", "weight of size ", weight.sizes(),
                ", expected bias to be 1-dimensional with ", outputs,
                " elements, but got bias of size ", bias->sizes(), " instead");
    check_same_type(op, input, "bias", *bias);
  }

  DimVector sizes{input.size(0), outputs}, padded, kernel;
  bool fits = true;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t in = input.size(i + 2);
    const int64_t covered = multiply_add(op, dilation[i], weight.size(i + 2) - 1, 1);
    if (transposed) {
      TENON_CHECK(output_padding[i] < stride[i] || output_padding[i] < dilation[i], "[", op,
                  "] output padding must be smaller than either stride or dilation, but got "
                  "output_padding ",
                  output_padding, ", stride ", stride, ", dilation ", dilation);
      const int64_t whole = multiply_add(op, in - 1, stride[i], covered);
      const int64_t cut = multiply_add(op, 2, padding[i], 0);
      sizes.push_back(multiply_add(op, 1, output_padding[i], whole - cut));
      TENON_CHECK(sizes.back() > 0, "[", op, "] Given input size per channel: ", input.sizes(),
                  ". Calculated output size per channel: ", sizes, ". Output size is too small");
    } else {
      padded.push_back(multiply_add(op, 2, padding[i], in));
      kernel.push_back(covered);
      fits = fits && covered <= padded.back() && covered > 0;
      sizes.push_back((padded.back() - covered) / stride[i] + 1);
    }
  }
  TENON_CHECK(fits, "[", op, "] Calculated padded input size per channel: ", by(padded),
              ". Kernel size: ", by(kernel),
              ". Kernel size can't be greater than actual input size");
  return sizes;
}

void meta::check_convolution_backward(const TensorBase& grad_output, const TensorBase& input,
                                      const TensorBase& weight, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                      IntArrayRef output_padding, int64_t groups) {
  const DimVector sizes = convolution_sizes("convolution_backward", input, weight, nullptr, stride,
                                            padding, dilation, transposed, output_padding, groups);
  TENON_CHECK(grad_output.sizes() == IntArrayRef(sizes),
              "[convolution_backward] Expected grad_output of shape ", sizes, ", but got ",
              grad_output.sizes());
}

MemoryFormat meta::convolution_format(const TensorBase& input, const TensorBase& weight) {
  const MemoryFormat format = input.suggest_memory_format();
  return format != MemoryFormat::Contiguous || input.dim() == 3 ? format
                                                                : weight.suggest_memory_format();
}

/// [batch, channels, in...] and weight [outputs, channels / groups, kernel...] (transposed:
/// [channels, outputs / groups, kernel...]) -> [batch, outputs, out...]
TensorSpec native::convolution_meta(const Tensor& input, const Tensor& weight,
                                    const std::optional<Tensor>& bias, IntArrayRef stride,
                                    IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                    IntArrayRef output_padding, int64_t groups) {
  const DimVector sizes = meta::convolution_sizes(
      "convolution", input, weight, bias && bias->defined() ? &*bias : nullptr, stride, padding,
      dilation, transposed, output_padding, groups);
  const MemoryFormat format = meta::convolution_format(input, weight);
  if (format == MemoryFormat::Contiguous) return TensorSpec(sizes, input);
  return TensorSpec(sizes, strides_of_format(sizes, format), input.scalar_type(), input.device());
}

}  // namespace tenon
