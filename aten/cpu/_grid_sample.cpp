#include "tenon/native/_grid_sample.h"

#include <algorithm>
#include <limits>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/grid_lanes.h"
#include "aten/meta/grid_sampler.h"
#include "tenon/native/_grid_sample_backward.h"

namespace tenon {
namespace {

using meta::GridInterpolation;
using native::GridAxis;
using native::GridPadding;
using native::GridSampler;

// The weights of neighbours as polynomials of the distance t from the first element not above the
// place. Bicubic: the convolution of Keys (1981) with a = -0.75.
constexpr double kCubic = -0.75;
constexpr double kPolynomials[3][4][4] = {
    {{1, -1}, {0, 1}},
    {{1}},
    {{0, kCubic, -2 * kCubic, kCubic},
     {1, 0, -kCubic - 3, kCubic + 2},
     {0, -kCubic, 2 * kCubic + 3, -kCubic - 2},
     {0, 0, kCubic, -kCubic}},
};
constexpr int64_t kTaps[3] = {2, 1, 4};

/// The order-th derivative of a polynomial.
template <class T>
void derivative(const double* polynomial, int64_t order, T* to) {
  for (int64_t i = 0; i < 4; ++i) {
    double factor = 1;
    for (int64_t j = 0; j < order; ++j) factor *= static_cast<double>(i + order - j);
    to[i] = i + order < 4 ? static_cast<T>(factor * polynomial[i + order]) : T(0);
  }
}

/// `input` with strides; coordinates in `grid` begin with that of the input's last dimension.
template <class T>
GridSampler<T> grid_sampler(const TensorBase& input, const TensorBase& grid, int64_t interpolation,
                            int64_t padding, bool align_corners, IntArrayRef order) {
  GridSampler<T> s{};
  s.dims = static_cast<int64_t>(order.size());
  s.taps = kTaps[interpolation];
  s.padding = static_cast<GridPadding>(padding);
  // As PyTorch has it: in two dimensions a coordinate that is no number makes the value none, or
  // means the first element; in three it is outside, or means the last element.
  s.finite_only = s.dims == 3 && s.taps == 2 && s.padding == GridPadding::Zeros;
  for (int64_t i = 0; i < s.dims; ++i) {
    GridAxis<T>& a = s.axes[i];
    a.size = input.size(-1 - i);
    a.stride = a.size == 1 ? 0 : input.stride(-1 - i);
    const T last = static_cast<T>(a.size - 1);
    a.scale = (align_corners ? last : static_cast<T>(a.size)) / 2;
    a.shift = align_corners ? T(0) : T(-0.5);
    a.mirror = align_corners ? T(0) : T(-0.5);
    a.span = align_corners ? last : static_cast<T>(a.size);
    a.instead_of_nan = s.dims == 3 ? last : T(0);
    a.order = order[static_cast<size_t>(i)];
    for (int64_t k = 0; k < s.taps; ++k) {
      derivative(kPolynomials[interpolation][k], a.order, a.weights[k]);
      derivative(kPolynomials[interpolation][k], a.order + 1, a.next[k]);
    }
  }
  s.channels = input.size(1);
  s.channel_stride = input.stride(1);
  s.points = grid.numel() / grid.size(0) / s.dims;
  return s;
}

/// The dtype to compute in: of Float offsets in a channel have 32 bits.
ScalarType compute_type(const TensorBase& input) {
  const ScalarType type = to_opmath_type(input.scalar_type());
  int64_t largest = 0;
  for (int64_t d = 2; d < input.dim(); ++d) {
    largest += (input.size(d) - 1) * std::max<int64_t>(input.stride(d), 1);
  }
  const int64_t plane = input.numel() / (input.size(0) * input.size(1));
  return std::max(largest, plane) > std::numeric_limits<int32_t>::max() ? kDouble : type;
}

/// Whether all weights are constant, so that their derivatives are 0.
bool is_constant(int64_t interpolation, IntArrayRef order) {
  return static_cast<GridInterpolation>(interpolation) == GridInterpolation::Nearest &&
         std::any_of(order.begin(), order.end(), [](int64_t o) { return o > 0; });
}

Tensor zero_tensor(IntArrayRef sizes, ScalarType type) {
  Tensor t(tenon::empty(sizes, type, kCPU));
  t.zero_();
  return t;
}

constexpr int64_t kPoints = 256;  // that are taken at a time

template <class T>
int64_t grain_of(const GridSampler<T>& s) {
  int64_t work = kPoints * s.channels;
  for (int64_t i = 0; i < s.dims; ++i) work *= s.taps;
  return std::max<int64_t>(1, 65536 / work);
}

}  // namespace

void native::_grid_sample_cpu(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                              int64_t padding_mode, bool align_corners, IntArrayRef order,
                              const Tensor& out) {
  if (out.numel() == 0) return;
  if (is_constant(interpolation_mode, order)) {
    out.zero_();
    return;
  }
  const ScalarType type = compute_type(input);
  const TensorBase x = input.scalar_type() == type ? TensorBase(input) : contiguous(input, type),
                   places = contiguous(grid, type);
  const ContiguousOutput y(out, type);
  TENON_DISPATCH_FLOATING(type, "grid_sampler", {
    const auto s =
        grid_sampler<scalar_t>(x, places, interpolation_mode, padding_mode, align_corners, order);
    const int64_t blocks = (s.points + kPoints - 1) / kPoints;
    parallel_for(0, x.size(0) * blocks, grain_of(s), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t n = begin / blocks, first = begin % blocks,
                      count = std::min(end - begin, blocks - first);
        sample_grid(s, x.const_data_ptr<scalar_t>() + n * x.stride(0),
                    places.const_data_ptr<scalar_t>() + n * s.points * s.dims,
                    y.data<scalar_t>() + n * s.channels * s.points, first * kPoints,
                    std::min((first + count) * kPoints, s.points));
        begin += count;
      }
    });
  });
  y.copy_back();
}

std::tuple<Tensor, Tensor> native::_grid_sample_backward_cpu(
    const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
    int64_t padding_mode, bool align_corners, IntArrayRef order, std::array<bool, 2> output_mask) {
  meta::check_grid_sampler(input, grid, interpolation_mode, padding_mode, order);
  TENON_CHECK(grad_output.sizes() == IntArrayRef(meta::grid_sampler_sizes(input, grid)) &&
                  grad_output.scalar_type() == input.scalar_type(),
              "[grid_sampler] expected grad_output of sizes ",
              meta::grid_sampler_sizes(input, grid), " and dtype ", input.scalar_type(), ", got ",
              grad_output.sizes(), " and ", grad_output.scalar_type());
  std::tuple<Tensor, Tensor> grads;
  auto& [grad_input, grad_grid] = grads;
  const ScalarType type = input.numel() == 0 ? input.scalar_type() : compute_type(input);
  if (output_mask[0]) grad_input = zero_tensor(input.sizes(), type);
  const bool nearest =
      static_cast<GridInterpolation>(interpolation_mode) == GridInterpolation::Nearest;
  const bool none = grad_output.numel() == 0 || is_constant(interpolation_mode, order);
  const bool wants_grid = output_mask[1] && !nearest && !none;
  if (output_mask[1]) {
    grad_grid = wants_grid ? Tensor(empty(grid.sizes(), type, grid.device()))
                           : zero_tensor(grid.sizes(), type);
  }
  if (!none && (output_mask[0] || wants_grid)) {
    const TensorBase x = contiguous(input, type), places = contiguous(grid, type),
                     dy = contiguous(grad_output, type);
    TENON_DISPATCH_FLOATING(type, "grid_sampler", {
      const auto s =
          grid_sampler<scalar_t>(x, places, interpolation_mode, padding_mode, align_corners, order);
      // What is added to an element of the input may come from any point: threads take images.
      const int64_t blocks = output_mask[0] ? 1 : (s.points + kPoints - 1) / kPoints;
      const int64_t points = output_mask[0] ? s.points : kPoints;
      parallel_for(
          0, x.size(0) * blocks, output_mask[0] ? 1 : grain_of(s), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const int64_t n = i / blocks, first = i % blocks * points, at = n * s.points * s.dims;
              sample_grid_backward(
                  s, x.data_ptr<scalar_t>() + n * x.stride(0), places.data_ptr<scalar_t>() + at,
                  dy.data_ptr<scalar_t>() + n * s.channels * s.points,
                  output_mask[0] ? grad_input.mutable_data_ptr<scalar_t>() + n * x.stride(0)
                                 : nullptr,
                  wants_grid ? grad_grid.mutable_data_ptr<scalar_t>() + at : nullptr, first,
                  std::min(first + points, s.points));
            }
          });
    });
  }
  if (output_mask[0]) grad_input = grad_input.to(input.scalar_type());
  if (output_mask[1]) grad_grid = grad_grid.to(grid.scalar_type());
  return grads;
}

}  // namespace tenon
