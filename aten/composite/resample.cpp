#include "aten/composite/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "aten/generated_support/tensor_factories.h"
#include "tenon/native/_resample_grid.h"
#include "tenon/ops/_resample.h"
#include "tenon/ops/_resample_grid.h"
#include "tenon/ops/add.h"
#include "tenon/ops/bitwise_right_shift.h"
#include "tenon/ops/clamp.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

/// Input elements per output element.
double step_of(const Grid& g) {
  if (g.align_corners) {
    return g.out > 1 ? static_cast<double>(g.in - 1) / static_cast<double>(g.out - 1) : 0;
  }
  // Finite, so that differences of places are numbers.
  return g.scale && *g.scale > 0 ? std::min(1 / *g.scale, 1e300)
                                 : static_cast<double>(g.in) / static_cast<double>(g.out);
}

/// The input element that a place falls into, the last one for all places behind it, the first one
/// for NaN, which a step beyond a float's range makes of output element 0.
int64_t element_at(const Grid& g, double place) {
  if (std::isnan(place)) return 0;
  return static_cast<int64_t>(std::floor(std::min(place, static_cast<double>(g.in - 1))));
}

/// Where the middle of output element i lies, counted from the middle of the first input element.
double place_of(const Grid& g, double step, int64_t i) {
  const auto at = static_cast<double>(i);
  return g.align_corners ? at * step : (at + 0.5) * step - 0.5;
}

/// A linear map along one dimension: element i of the result is the sum over k < count of
/// weights[i * count + k] times element indices[i * count + k].
struct Taps {
  int64_t size = 0;
  int64_t count = 0;
  std::vector<int64_t> indices;
  /// Empty where all are 1.
  std::vector<double> weights;
};

Taps taps_of(int64_t size, int64_t count) {
  int64_t n = 0, bytes = 0;
  TENON_CHECK(!__builtin_mul_overflow(size, count, &n) && !__builtin_mul_overflow(n, 16, &bytes),
              "a result of ", size, " elements, each of ", count,
              " elements of the input, exceeds the address range");
  const auto places = static_cast<size_t>(n);
  return {size, count, std::vector<int64_t>(places), std::vector<double>(places)};
}

/// Keys' kernel at distance x.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double triangle(double x) { return std::max(1 - std::abs(x), 0.0); }

/// Around each place, what lies within `reach` input elements, or within as many output elements
/// where these are the larger ones.
template <typename Filter>
Taps antialiased(const Grid& g, double reach, Filter&& filter) {
  const double step = step_of(g), wider = std::max(step, 1.0), support = reach * wider;
  const auto end = static_cast<double>(g.in);
  Taps taps = taps_of(g.out, static_cast<int64_t>(std::min(2 * std::ceil(support) + 1, end)));
  for (int64_t i = 0; i < g.out; ++i) {
    const double center = step * (static_cast<double>(i) + 0.5);
    const auto first = static_cast<int64_t>(std::clamp(center - support + 0.5, 0.0, end));
    const auto last = static_cast<int64_t>(std::min(center + support + 0.5, end));
    const auto found = std::clamp<int64_t>(last - first, 0, taps.count);
    int64_t* index = &taps.indices[static_cast<size_t>(i * taps.count)];
    double* weight = &taps.weights[static_cast<size_t>(i * taps.count)];
    double sum = 0;
    for (int64_t k = 0; k < found; ++k) {
      index[k] = first + k;
      sum += weight[k] = filter((static_cast<double>(first + k) - center + 0.5) / wider);
    }
    // What is left over counts nothing, and so must not be NaN: an element that counts anyway.
    for (int64_t k = found; k < taps.count; ++k) index[k] = std::min(first, g.in - 1);
    for (int64_t k = 0; k < found; ++k) weight[k] /= sum != 0 ? sum : 1;
  }
  return taps;
}

/// Tap k of every output element, and its weights in the shape that dimension d has in `self`.
Tensor indices_of(const Tensor& self, const Taps& taps, int64_t k) {
  const Tensor indices(tenon::empty({taps.size}, kLong, kCPU));
  auto* to = static_cast<int64_t*>(indices.data_ptr());
  for (int64_t i = 0; i < taps.size; ++i)
    to[i] = taps.indices[static_cast<size_t>(i * taps.count + k)];
  return indices.to(self.device());
}

/// Fixed-point numbers.
Tensor weights_of(const Tensor& self, int64_t d, const Taps& taps, int64_t k, double scale) {
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  sizes[static_cast<size_t>(d)] = taps.size;
  const Tensor weights(tenon::empty(sizes, kInt, kCPU));
  auto* to = static_cast<int32_t*>(weights.data_ptr());
  for (int64_t i = 0; i < taps.size; ++i) {
    to[i] = static_cast<int32_t>(
        std::round(taps.weights[static_cast<size_t>(i * taps.count + k)] * scale));
  }
  return weights.to(self.device());
}

/// The largest power of two that leaves the largest weight below 2^15.
int64_t weight_bits(const Taps& taps) {
  double largest = 0;
  for (const double w : taps.weights) largest = std::max(largest, w);
  int64_t bits = 0;
  while (bits < 22 &&
         std::floor(0.5 + largest * static_cast<double>(int64_t{1} << (bits + 1))) < 0x1p15)
    ++bits;
  return bits;
}

/// An element that counts several times, at an edge, as one: its weight is rounded once.
Taps folded(Taps taps) {
  for (int64_t i = 0; i < taps.size; ++i) {
    const int64_t* index = &taps.indices[static_cast<size_t>(i * taps.count)];
    double* weight = &taps.weights[static_cast<size_t>(i * taps.count)];
    for (int64_t k = 1; k < taps.count; ++k) {
      const int64_t first = std::find(index, index + k, index[k]) - index;
      if (first < k) weight[first] += std::exchange(weight[k], 0);
    }
  }
  return taps;
}

Tensor resample_bytes(const Tensor& self, int64_t d, const Taps& taps) {
  const int64_t bits = weight_bits(taps);
  const auto scale = static_cast<double>(int64_t{1} << bits);
  Tensor sum;
  for (int64_t k = 0; k < taps.count; ++k) {
    const Tensor part = self.index_select(d, indices_of(self, taps, k)).to(kInt) *
                        weights_of(self, d, taps, k, scale);
    sum = k == 0 ? part + (bits > 0 ? int64_t{1} << (bits - 1) : 0) : sum + part;
  }
  return bitwise_right_shift(sum, bits).clamp(0, 255).to(kByte);
}

/// A sparse matrix by rows: row i has weights[e] in column indices[e], starts[i] <= e < starts[i +
/// 1].
struct Rows {
  std::vector<int64_t> starts, indices;
  std::vector<double> weights;
};

Rows rows_of(const Taps& taps) {
  std::vector<int64_t> starts(static_cast<size_t>(taps.size + 1));
  for (size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<int64_t>(i) * taps.count;
  return {std::move(starts), taps.indices, taps.weights};
}

Rows transpose(const Rows& rows, size_t columns) {
  Rows result{std::vector<int64_t>(columns + 1), std::vector<int64_t>(rows.indices.size()),
              std::vector<double>(rows.weights.size())};
  for (const int64_t column : rows.indices) ++result.starts[static_cast<size_t>(column) + 1];
  for (size_t c = 0; c < columns; ++c) result.starts[c + 1] += result.starts[c];
  std::vector<int64_t> next(result.starts.begin(), result.starts.end() - 1);
  for (size_t i = 0; i + 1 < rows.starts.size(); ++i) {
    for (int64_t e = rows.starts[i]; e < rows.starts[i + 1]; ++e) {
      const auto from = static_cast<size_t>(e);
      const auto to = static_cast<size_t>(next[static_cast<size_t>(rows.indices[from])]++);
      result.indices[to] = static_cast<int64_t>(i);
      result.weights[to] = rows.weights[from];
    }
  }
  return result;
}

/// The element that each place falls into; `exact` counts from the middles of the elements, as
/// Pillow does. Places are computed in `dtype`, half types as floats.
Taps nearest_taps(const Grid& g, bool exact, ScalarType dtype) {
  Taps taps = taps_of(g.out, 1);
  taps.weights.clear();
  const double step = step_of(g);
  for (int64_t i = 0; i < g.out; ++i) {
    const double at = static_cast<double>(i) + (exact ? 0.5 : 0);
    // PyTorch's rounding, which decides where a place falls between two elements.
    const float place = dtype == kDouble ? static_cast<float>(at * step)
                                         : static_cast<float>(at) * static_cast<float>(step);
    taps.indices[static_cast<size_t>(i)] = element_at(g, place);
  }
  return taps;
}

/// The two elements that each place lies between, by their distances.
Taps linear_taps(const Grid& g) {
  Taps taps = taps_of(g.out, 2);
  const double step = step_of(g);
  for (int64_t i = 0; i < g.out; ++i) {
    const double place = std::max(place_of(g, step, i), 0.0);
    const int64_t low = element_at(g, place);
    const double share = std::clamp(place - static_cast<double>(low), 0.0, 1.0);
    const auto at = static_cast<size_t>(2 * i);
    taps.indices[at] = low;
    taps.indices[at + 1] = std::min(low + 1, g.in - 1);
    taps.weights[at] = 1 - share;
    taps.weights[at + 1] = share;
  }
  return taps;
}

/// The four elements around each place, by the cubic convolution of Keys (1981) with a = -0.75.
Taps cubic_taps(const Grid& g) {
  Taps taps = taps_of(g.out, 4);
  const double step = step_of(g);
  for (int64_t i = 0; i < g.out; ++i) {
    const double place = place_of(g, step, i);
    const int64_t low = element_at(g, place);
    const double share = std::clamp(place - static_cast<double>(low), 0.0, 1.0);
    for (int64_t k = 0; k < 4; ++k) {
      const auto at = static_cast<size_t>(4 * i + k);
      taps.indices[at] = std::clamp<int64_t>(low - 1 + k, 0, g.in - 1);
      taps.weights[at] = cubic(static_cast<double>(k - 1) - share, -0.75);
    }
  }
  return taps;
}

/// The mean over elements [floor(i in / out), ceil((i + 1) in / out)).
Taps mean_taps(int64_t in, int64_t out) {
  const auto start = [&](int64_t i) { return i * in / out; };
  const auto end = [&](int64_t i) { return ((i + 1) * in + out - 1) / out; };
  const int64_t count = longest_window(in, out);
  Taps taps = taps_of(out, count);
  for (int64_t i = 0; i < out; ++i) {
    const int64_t found = end(i) - start(i);
    for (int64_t k = 0; k < count; ++k) {
      const auto at = static_cast<size_t>(i * count + k);
      taps.indices[at] = start(i) + (k < found ? k : 0);
      taps.weights[at] = k < found ? 1 / static_cast<double>(found) : 0;
    }
  }
  return taps;
}

Taps grid_taps(Filter filter, const Grid& g, ScalarType dtype) {
  switch (filter) {
  case Filter::Nearest:
  case Filter::NearestExact: return nearest_taps(g, filter == Filter::NearestExact, dtype);
  case Filter::Linear: return linear_taps(g);
  case Filter::Cubic: return cubic_taps(g);
  case Filter::LinearAntialiased: return antialiased(g, 1, triangle);
  case Filter::CubicAntialiased: return antialiased(g, 2, [](double x) { return cubic(x, -0.5); });
  case Filter::Mean: return mean_taps(g.in, g.out);
  }
  TENON_CHECK(false, "[_resample_grid] unknown filter ", static_cast<int64_t>(filter));
}

}  // namespace

int64_t longest_window(int64_t n, int64_t windows) {
  // A window is n / w long, in lowest terms, and starts at every multiple of 1 / w within an
  // element: ceil((w - 1 + n) / w) elements at most.
  const int64_t divisor = std::gcd(n, windows), w = windows / divisor, rest = n / divisor - 1;
  return 1 + rest / w + (rest % w != 0);
}

Tensor resample(const Tensor& self, int64_t d, Filter filter, const Grid& g) {
  return tenon::_resample_grid(self, d, static_cast<int64_t>(filter), g.in, g.out, g.align_corners,
                               g.scale);
}

/// What gradients go through is made anew from these numbers: a graph keeps no tensors of it.
Tensor native::_resample_grid(const Tensor& self, int64_t dim, int64_t filter, int64_t size,
                              int64_t output_size, bool align_corners, std::optional<double> scale,
                              bool transposed) {
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK(size > 0 && output_size > 0 && self.size(d) == (transposed ? output_size : size),
              "[_resample_grid] expected ", transposed ? output_size : size,
              " elements in dimension ", dim, ", got sizes ", self.sizes());
  // A meta tensor needs no map, however large it would be.
  if (self.is_meta())
    return self.index_select(d, Tensor(empty({transposed ? size : output_size}, kLong, kMeta)));
  Taps taps = grid_taps(static_cast<Filter>(filter), {size, output_size, align_corners, scale},
                        self.scalar_type());
  if (!transposed && taps.weights.empty()) return self.index_select(d, indices_of(self, taps, 0));
  if (self.scalar_type() == kByte) return resample_bytes(self, d, folded(std::move(taps)));
  if (taps.weights.empty()) taps.weights.assign(taps.indices.size(), 1);
  Rows rows = rows_of(taps), back = transpose(rows, static_cast<size_t>(size));
  if (transposed) std::swap(rows, back);
  const auto numbers = [&](const std::vector<int64_t>& list) {
    return tensor(list).to(self.device());
  };
  const auto weights = [&](const std::vector<double>& list) {
    return tensor(list, kDouble).to(self.device(), self.scalar_type());
  };
  return tenon::_resample(self, d, numbers(rows.starts), numbers(rows.indices),
                          weights(rows.weights), numbers(back.starts), numbers(back.indices),
                          weights(back.weights));
}

}  // namespace tenon
