#pragma once

#include <optional>

#include "tenon/tensor.h"

namespace tenon {

/// How elements of an interpolated dimension lie between those of the input.
struct Grid {
  int64_t in = 0, out = 0;
  bool align_corners = false;
  /// Output elements per input element; without it out / in.
  std::optional<double> scale;
};

/// What an element is made of: the element its place falls into, or in which its middle lies; the
/// two or four elements around it; of the antialiased ones all elements of an image that gets
/// smaller; the mean over a window.
enum class Filter : int64_t {
  Nearest,
  NearestExact,
  Linear,
  Cubic,
  LinearAntialiased,
  CubicAntialiased,
  Mean
};

/// `self` with the filter applied along dimension d, of grid.in elements, in self's dtype. Of uint8
/// tensors weights are fixed-point numbers of 16 bits and the result is rounded and kept within 0
/// to 255.
Tensor resample(const Tensor& self, int64_t d, Filter filter, const Grid& grid);

/// Of `windows` windows over n elements, window i being [floor(i n / windows), ceil((i + 1) n /
/// windows)), the elements of the longest one.
int64_t longest_window(int64_t n, int64_t windows);

}  // namespace tenon
