#include <algorithm>
#include <cmath>

#include "tenon/native/upsample_bilinear2d.h"
#include "tenon/native/upsample_nearest1d.h"
#include "tenon/native/upsample_nearest2d.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

void check_sizes(const char* op, const Tensor& self, IntArrayRef output_size, int64_t dims) {
  TENON_CHECK(static_cast<int64_t>(output_size.size()) == dims, "[", op,
              "] It is expected output_size equals to ", dims, ", but got size ",
              output_size.size());
  TENON_CHECK(self.dim() == dims + 2, "[", op, "] It is expected input_size equals to ", dims + 2,
              ", but got size ", self.dim());
  for (int64_t d = 0; d < dims; ++d) {
    TENON_CHECK(self.size(2 + d) > 0 && output_size[d] > 0, "[", op,
                "] Input and output sizes should be greater than 0, but got input ", self.sizes(),
                " and output ", output_size);
  }
}

/// Elements of the input per element of the output.
double ratio(int64_t in, int64_t out, std::optional<double> scale) {
  return scale && *scale > 0 ? 1 / *scale : static_cast<double>(in) / static_cast<double>(out);
}

/// Along d, the element that each of `size` places falls into, by a scale in float as PyTorch's.
Tensor nearest(const Tensor& self, int64_t d, int64_t size, std::optional<double> scale) {
  const int64_t n = self.size(d);
  const Tensor index(tenon::empty({size}, kLong, kCPU));
  auto* to = static_cast<int64_t*>(index.data_ptr());
  const auto step = static_cast<float>(ratio(n, size, scale));
  for (int64_t i = 0; i < size; ++i) {
    to[i] = std::min(static_cast<int64_t>(std::floor(static_cast<float>(i) * step)), n - 1);
  }
  return self.index_select(d, index.to(self.device()));
}

/// Along d, between the two elements that each of `size` places lies between.
Tensor linear(const Tensor& self, int64_t d, int64_t size, bool align_corners,
              std::optional<double> scale) {
  const int64_t n = self.size(d);
  const double step = !align_corners ? ratio(n, size, scale)
                      : size > 1     ? static_cast<double>(n - 1) / static_cast<double>(size - 1)
                                     : 0;
  const Tensor low(tenon::empty({size}, kLong, kCPU)), high(tenon::empty({size}, kLong, kCPU)),
      share(tenon::empty({size}, kDouble, kCPU));
  auto* first = static_cast<int64_t*>(low.data_ptr());
  auto* second = static_cast<int64_t*>(high.data_ptr());
  auto* part = static_cast<double*>(share.data_ptr());
  for (int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<double>(i);
    const double place = align_corners ? at * step : std::max((at + 0.5) * step - 0.5, 0.0);
    first[i] = std::min(static_cast<int64_t>(place), n - 1);
    second[i] = std::min(first[i] + 1, n - 1);
    part[i] = std::clamp(place - static_cast<double>(first[i]), 0.0, 1.0);
  }
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  sizes[d] = size;
  const Tensor weight = share.to(self.device(), self.scalar_type()).reshape(sizes);
  return self.index_select(d, low.to(self.device())) * (1 - weight) +
         self.index_select(d, high.to(self.device())) * weight;
}

}  // namespace

/// [N, C, L] to [N, C, l]: each element is that of the input which its place falls into.
Tensor native::upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                  std::optional<double> scales) {
  check_sizes("upsample_nearest1d", self, output_size, 1);
  return nearest(self, 2, output_size[0], scales);
}

/// The same of [N, C, H, W], along rows and columns.
Tensor native::upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                  std::optional<double> scales_h, std::optional<double> scales_w) {
  check_sizes("upsample_nearest2d", self, output_size, 2);
  return nearest(nearest(self, 2, output_size[0], scales_h), 3, output_size[1], scales_w);
}

/// Bilinear interpolation of [N, C, H, W]. With align_corners the corners' elements are the
/// input's, else both images cover the same area.
Tensor native::upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                   std::optional<double> scales_h, std::optional<double> scales_w) {
  check_sizes("upsample_bilinear2d", self, output_size, 2);
  // Half types are rounded once.
  const bool half = is_reduced_floating_point(self.scalar_type());
  const Tensor rows =
      linear(half ? self.to(kFloat) : self, 2, output_size[0], align_corners, scales_h);
  return linear(rows, 3, output_size[1], align_corners, scales_w).to(self.scalar_type());
}

}  // namespace tenon
