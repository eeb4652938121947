#pragma once

#include <cstdint>

namespace tenon::native {

/// Where places outside of the input get their values: 0, the nearest element of the border, or the
/// elements mirrored at the border.
enum class GridPadding { Zeros, Border, Reflection };

/// One dimension of the input. A coordinate from -1 to 1 is the place (coordinate + 1) * scale +
/// shift, counted in elements.
template <class T>
struct GridAxis {
  int64_t size, stride;
  T scale, shift;
  /// Bounds that reflection mirrors at, and the place that a coordinate that is no number means.
  T mirror, span, instead_of_nan;
  /// Tap k has the weight sum_i weights[k][i] t^i * slope^order, t the place's distance from its
  /// element and slope the derivative of the place by the coordinate; `next` are the weights'
  /// derivatives, with slope^(order + 1).
  T weights[4][4], next[4][4];
  int64_t order;
};

/// Values at the places of a grid, by 1, 2 or 4 neighbours in each of 2 or 3 dimensions, the last
/// one first.
template <class T>
struct GridSampler {
  int64_t dims, taps;
  GridPadding padding;
  bool finite_only;  ///< places that are not finite are outside
  GridAxis<T> axes[3];
  int64_t channels, channel_stride;  ///< of the input
  int64_t points;                    ///< of a channel of the result
};

/// The values of one image at points [begin, end): out [channels, points].
template <class T>
void sample_grid(const GridSampler<T>& s, const T* in, const T* grid, T* out, int64_t begin,
                 int64_t end);

/// Gradients for one image and points [begin, end): to_in has `in`'s strides and is added to,
/// to_grid [points, dims] is written; either may be null.
template <class T>
void sample_grid_backward(const GridSampler<T>& s, const T* in, const T* grid, const T* grad,
                          T* to_in, T* to_grid, int64_t begin, int64_t end);

extern template void sample_grid(const GridSampler<float>&, const float*, const float*, float*,
                                 int64_t, int64_t);
extern template void sample_grid(const GridSampler<double>&, const double*, const double*, double*,
                                 int64_t, int64_t);
extern template void sample_grid_backward(const GridSampler<float>&, const float*, const float*,
                                          const float*, float*, float*, int64_t, int64_t);
extern template void sample_grid_backward(const GridSampler<double>&, const double*, const double*,
                                          const double*, double*, double*, int64_t, int64_t);

}  // namespace tenon::native
