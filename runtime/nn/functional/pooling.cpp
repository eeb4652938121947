#include "runtime/nn/functional/helpers.h"
#include "tenon/ops/avg_pool1d.h"
#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/avg_pool3d.h"
#include "tenon/ops/col2im.h"
#include "tenon/ops/fractional_max_pool2d.h"
#include "tenon/ops/fractional_max_pool3d.h"
#include "tenon/ops/im2col.h"
#include "tenon/ops/max_unpool2d.h"
#include "tenon/ops/max_unpool3d.h"
#include "tenon/ops/rand.h"

namespace tenon::nn::functional::detail {
namespace {

/// The size asked for, which must be one that pooling leads to the input's from; by default the
/// least.
std::vector<int64_t> unpooled_size(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                                   IntArrayRef padding,
                                   const std::optional<std::vector<int64_t>>& output_size) {
  const size_t dims = kernel_size.size();
  std::vector<int64_t> usual;
  for (size_t i = 0; i < dims; ++i) {
    const int64_t size = input.size(int64_t(i) - int64_t(dims));
    usual.push_back((size - 1) * stride[i] + kernel_size[i] - 2 * padding[i]);
  }
  if (!output_size) return usual;
  std::vector<int64_t> size = *output_size;
  if (size.size() == dims + 2) size.erase(size.begin(), size.begin() + 2);
  TENON_CHECK_VALUE(size.size() == dims, "output_size should be a sequence containing ", dims,
                    " or ", dims + 2, " elements, but it has a length of '", size.size(), "'");
  for (size_t i = 0; i < dims; ++i) {
    TENON_CHECK_VALUE(size[i] > usual[i] - stride[i] && size[i] < usual[i] + stride[i],
                      "invalid output_size ", IntArrayRef(*output_size), " (dim ", i,
                      " must be between ", usual[i] - stride[i], " and ", usual[i] + stride[i],
                      ")");
  }
  return size;
}

/// Output sizes and random places of fractional pooling.
template <size_t D>
std::pair<std::vector<int64_t>, Tensor>
fractional(const Tensor& input, const std::optional<ExpandingArray<D>>& output_size,
           const std::optional<ExpandingArray<D, double>>& output_ratio, const Tensor& samples) {
  TENON_CHECK_VALUE(output_size || output_ratio, "fractional_max_pool", D,
                    "d requires specifying either an output_size or an output_ratio");
  const int64_t dims = int64_t(D);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < D; ++i) {
    sizes.push_back(output_size
                        ? (*output_size)[i]
                        : int64_t(double(input.size(int64_t(i) - dims)) * (*output_ratio)[i]));
  }
  if (samples.defined()) return {sizes, samples};
  const int64_t batch = input.dim() == dims + 1 ? 1 : input.size(0);
  return {sizes,
          tenon::rand({batch, input.size(-dims - 1), dims}, input.options().requires_grad(false))};
}

/// The mean of the windows' powers as their norm, without the absolute value of odd powers.
Tensor norm_of_mean(const Tensor& mean, double norm_type, int64_t window) {
  return (mean.sign() * mean.abs().relu() * window).pow(1 / norm_type);
}

}  // namespace

Tensor unfold(const Tensor& input, const ExpandingArray<2>& kernel_size,
              const ExpandingArray<2>& dilation, const ExpandingArray<2>& padding,
              const ExpandingArray<2>& stride) {
  TENON_CHECK_NOT_IMPLEMENTED(input.dim() == 3 || input.dim() == 4,
                              "Input Error: Only 4D input Tensors are supported (got ", input.dim(),
                              "D)");
  return tenon::im2col(input, kernel_size, dilation, padding, stride);
}

Tensor fold(const Tensor& input, const ExpandingArray<2>& output_size,
            const ExpandingArray<2>& kernel_size, const ExpandingArray<2>& dilation,
            const ExpandingArray<2>& padding, const ExpandingArray<2>& stride) {
  TENON_CHECK_NOT_IMPLEMENTED(
      input.dim() == 2 || input.dim() == 3,
      "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ",
      input.dim(), "D)");
  return tenon::col2im(input, output_size, kernel_size, dilation, padding, stride);
}

Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                    const ExpandingArray<1>& kernel_size, const ExpandingArray<1>& stride,
                    const ExpandingArray<1>& padding,
                    const std::optional<std::vector<int64_t>>& output_size) {
  std::vector<int64_t> size = unpooled_size(input, kernel_size, stride, padding, output_size);
  size.push_back(1);
  return tenon::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1);
}

Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                    const ExpandingArray<2>& kernel_size, const ExpandingArray<2>& stride,
                    const ExpandingArray<2>& padding,
                    const std::optional<std::vector<int64_t>>& output_size) {
  return tenon::max_unpool2d(input, indices,
                             unpooled_size(input, kernel_size, stride, padding, output_size));
}

Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                    const ExpandingArray<3>& kernel_size, const ExpandingArray<3>& stride,
                    const ExpandingArray<3>& padding,
                    const std::optional<std::vector<int64_t>>& output_size) {
  const std::vector<int64_t> size = unpooled_size(input, kernel_size, stride, padding, output_size);
  return tenon::max_unpool3d(input, indices, size, stride, padding);
}

std::tuple<Tensor, Tensor>
fractional_max_pool2d_with_indices(const Tensor& input, const ExpandingArray<2>& kernel_size,
                                   const std::optional<ExpandingArray<2>>& output_size,
                                   const std::optional<ExpandingArray<2, double>>& output_ratio,
                                   const Tensor& _random_samples) {
  const auto [size, samples] = fractional<2>(input, output_size, output_ratio, _random_samples);
  return tenon::fractional_max_pool2d(input, kernel_size, size, samples);
}

std::tuple<Tensor, Tensor>
fractional_max_pool3d_with_indices(const Tensor& input, const ExpandingArray<3>& kernel_size,
                                   const std::optional<ExpandingArray<3>>& output_size,
                                   const std::optional<ExpandingArray<3, double>>& output_ratio,
                                   const Tensor& _random_samples) {
  const auto [size, samples] = fractional<3>(input, output_size, output_ratio, _random_samples);
  return tenon::fractional_max_pool3d(input, kernel_size, size, samples);
}

Tensor fractional_max_pool2d(const Tensor& input, const ExpandingArray<2>& kernel_size,
                             const std::optional<ExpandingArray<2>>& output_size,
                             const std::optional<ExpandingArray<2, double>>& output_ratio,
                             const Tensor& _random_samples) {
  return first(fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio,
                                                  _random_samples));
}

Tensor fractional_max_pool3d(const Tensor& input, const ExpandingArray<3>& kernel_size,
                             const std::optional<ExpandingArray<3>>& output_size,
                             const std::optional<ExpandingArray<3, double>>& output_ratio,
                             const Tensor& _random_samples) {
  return first(fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio,
                                                  _random_samples));
}

Tensor lp_pool1d(const Tensor& input, double norm_type, const ExpandingArray<1>& kernel_size,
                 const ExpandingArray<1>& stride, bool ceil_mode) {
  const Tensor mean = tenon::avg_pool1d(input.pow(norm_type), kernel_size, stride, {0}, ceil_mode);
  return norm_of_mean(mean, norm_type, kernel_size[0]);
}

Tensor lp_pool2d(const Tensor& input, double norm_type, const ExpandingArray<2>& kernel_size,
                 const ExpandingArray<2>& stride, bool ceil_mode) {
  const Tensor mean =
      tenon::avg_pool2d(input.pow(norm_type), kernel_size, stride, {0, 0}, ceil_mode);
  return norm_of_mean(mean, norm_type, kernel_size[0] * kernel_size[1]);
}

Tensor lp_pool3d(const Tensor& input, double norm_type, const ExpandingArray<3>& kernel_size,
                 const ExpandingArray<3>& stride, bool ceil_mode) {
  const Tensor mean =
      tenon::avg_pool3d(input.pow(norm_type), kernel_size, stride, {0, 0, 0}, ceil_mode);
  return norm_of_mean(mean, norm_type, kernel_size[0] * kernel_size[1] * kernel_size[2]);
}

}  // namespace tenon::nn::functional::detail
