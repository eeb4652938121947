#pragma once

#include <optional>
#include <vector>

#include "tenon/tensor.h"

namespace tenon {

/// A linear map along one dimension: element i of the result is the sum over k < count of
/// weights[i * count + k] times element indices[i * count + k].
struct Taps {
  int64_t size = 0;
  int64_t count = 0;
  std::vector<int64_t> indices;
  /// Empty where all are 1.
  std::vector<double> weights;
};

/// How elements of an interpolated dimension lie between those of the input.
struct Grid {
  int64_t in = 0, out = 0;
  bool align_corners = false;
  /// Output elements per input element; without it out / in.
  std::optional<double> scale;
};

/// The element that each place falls into; `exact` counts from the middles of the elements, as
/// Pillow does. Places are computed in `dtype`, half types as floats.
Taps nearest_taps(const Grid& grid, bool exact, ScalarType dtype);

/// The two elements that each place lies between, by their distances.
Taps linear_taps(const Grid& grid);

/// The four elements around each place, by the cubic convolution of Keys (1981) with a = -0.75.
Taps cubic_taps(const Grid& grid);

/// Linear and cubic (a = -0.5) filters that are widened where the image gets smaller, so that every
/// element counts.
Taps linear_taps_antialiased(const Grid& grid);
Taps cubic_taps_antialiased(const Grid& grid);

/// The mean over elements [floor(i in / out), ceil((i + 1) in / out)).
Taps mean_taps(int64_t in, int64_t out);

/// `self` with the map applied along dimension d, in self's dtype. Of uint8 tensors weights are
/// fixed-point numbers of 16 bits and the result is rounded and kept within 0 to 255.
Tensor resample(const Tensor& self, int64_t d, const Taps& taps);

/// The same with the map that `make_taps` makes, to `size` elements. A meta tensor needs no map,
/// however large it would be.
template <class MakeTaps>
Tensor resample(const Tensor& self, int64_t d, int64_t size, MakeTaps&& make_taps) {
  if (self.is_meta()) return self.index_select(d, Tensor(empty({size}, kLong, kMeta)));
  return resample(self, d, make_taps());
}

/// Of `windows` windows over n elements, window i being [floor(i n / windows), ceil((i + 1) n /
/// windows)), the elements of the longest one.
int64_t longest_window(int64_t n, int64_t windows);

}  // namespace tenon
