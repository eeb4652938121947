#include "runtime/nn/functional/helpers.h"

#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/softmax.h"

namespace tenon::nn::functional::detail {

int64_t dim_of_classes(const Tensor& input, const std::optional<int64_t>& dim) {
  const int64_t dims = input.dim();
  return dim.value_or(dims == 0 || dims == 1 || dims == 3 ? 0 : 1);
}

Tensor softmax2d(const Tensor& input) {
  TENON_CHECK_VALUE(input.dim() == 4 || input.dim() == 3,
                    "Softmax2d requires a 3D or 4D tensor as input, got ", input.dim(), "D");
  return tenon::softmax(input, -3);
}

std::vector<int64_t> adaptive_size(const Tensor& input, ArrayRef<std::optional<int64_t>> size) {
  const int64_t dims = int64_t(size.size());
  TENON_CHECK_VALUE(input.dim() > dims, "Input dimension should be at least ", dims + 1, ", got ",
                    input.dim());
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < dims; ++i) {
    sizes.push_back(size[size_t(i)].value_or(input.size(i - dims)));
  }
  return sizes;
}

void uniform_by_fan_in_(const Tensor& tensor, const Tensor& weight) {
  const int64_t fan_in = init::calculate_fan_in_and_fan_out(weight).first;
  const double bound = fan_in == 0 ? 0 : 1 / std::sqrt(double(fan_in));
  init::uniform_(tensor, -bound, bound);
}

void uniform_by_second_size_(const Tensor& tensor, const Tensor& weight) {
  const double bound = 1 / std::sqrt(double(weight.size(1)));
  init::uniform_(tensor, -bound, bound);
}

Tensor pad_reflect(const Tensor& input, IntArrayRef padding) {
  return tenon::pad(input, padding, "reflect");
}

Tensor pad_replicate(const Tensor& input, IntArrayRef padding) {
  return tenon::pad(input, padding, "replicate");
}

Tensor pad_circular(const Tensor& input, IntArrayRef padding) {
  return tenon::pad(input, padding, "circular");
}

void check_dims(const std::string& name, const Tensor& input, std::initializer_list<int64_t> dims) {
  std::string wanted;
  for (const int64_t d : dims) {
    if (input.dim() == d) return;
    wanted += (wanted.empty() ? "" : " or ") + std::to_string(d) + "D";
  }
  TENON_CHECK_VALUE(false, "[", name, "] expected ", wanted, " input (got ", input.dim(),
                    "D input)");
}

std::vector<int64_t> output_padding_for(const Tensor& input, IntArrayRef output_size,
                                        IntArrayRef kernel_size, IntArrayRef stride,
                                        IntArrayRef padding, IntArrayRef dilation) {
  const size_t dims = kernel_size.size();
  if (output_size.size() == dims + 2) output_size = output_size.slice(2, dims);
  TENON_CHECK_VALUE(output_size.size() == dims, "output_size must have ", dims, " or ", dims + 2,
                    " elements (got ", output_size.size(), ")");
  std::vector<int64_t> more;
  for (size_t i = 0; i < dims; ++i) {
    const int64_t size = input.size(int64_t(i) - int64_t(dims));
    const int64_t least =
        (size - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel_size[i] - 1) + 1;
    TENON_CHECK_VALUE(output_size[i] >= least && output_size[i] < least + stride[i],
                      "requested an output size of ", output_size,
                      ", but valid sizes of dimension ", i, " range from ", least, " to ",
                      least + stride[i] - 1, " (for an input of ", input.sizes(), ")");
    more.push_back(output_size[i] - least);
  }
  return more;
}

}  // namespace tenon::nn::functional::detail
