#include "tenon/native/histogram.h"

#include <cmath>

#include "tenon/native/_histogramdd_bin_edges.h"
#include "tenon/native/_histogramdd_from_bin_cts.h"
#include "tenon/native/histogramdd.h"
#include "tenon/ops/_histogramdd_bin_edges.h"
#include "tenon/ops/_histogramdd_from_bin_tensors.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/amin.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/item.h"
#include "tenon/ops/linspace.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/select.h"

namespace tenon {
namespace {

using Range = std::optional<ArrayRef<double>>;
using Edges = std::vector<Tensor>;

/// The range of one dimension: that which is given, or from its least element to its largest.
std::pair<double, double> outer_edges(const Tensor& points, int64_t d, const Range& range) {
  double first = 0, last = 1;
  if (range) {
    first = (*range)[static_cast<size_t>(2 * d)];
    last = (*range)[static_cast<size_t>(2 * d + 1)];
  } else if (points.numel() > 0) {
    const Tensor along = points.select(1, d);
    first = amin(along).item().toDouble();
    last = amax(along).item().toDouble();
  }
  TENON_CHECK(std::isfinite(first) && std::isfinite(last), "[histogramdd] dimension ", d,
              "'s range [", first, ", ", last, "] is not finite");
  TENON_CHECK(first <= last, "[histogramdd] min should not exceed max, but got min ", first,
              " max ", last, " for dimension ", d);
  if (first == last) return {first - 0.5, last + 0.5};
  return {first, last};
}

Tensor as_points(const Tensor& self) { return self.reshape({-1, 1}); }
std::optional<Tensor> as_weights(const std::optional<Tensor>& weight, const Tensor& self) {
  if (!weight || !(weight->sizes() == self.sizes())) return weight;
  return weight->reshape({-1});
}

}  // namespace

/// As many bins of one width as are asked for, in each dimension of the points self [..., dims].
Edges native::_histogramdd_bin_edges(const Tensor& self, IntArrayRef bins, Range range,
                                     const std::optional<Tensor>&, bool) {
  TENON_CHECK(self.dim() >= 2,
              "[histogramdd] input tensor should have at least 2 dimensions, got sizes ",
              self.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "[histogramdd] is not implemented for '",
                              self.scalar_type(), "'");
  const int64_t dims = self.size(-1);
  TENON_CHECK(static_cast<int64_t>(bins.size()) == dims,
              "[histogramdd] The size of bins must be equal to the innermost dimension of the "
              "input. got ",
              bins.size(), " and ", dims);
  TENON_CHECK(!range || static_cast<int64_t>(range->size()) == 2 * dims, "[histogramdd] for a ",
              dims, "-dimensional histogram range should have ", 2 * dims, " elements, but got ",
              range ? range->size() : 0);
  const Tensor points = self.reshape({dims == 0 ? 0 : self.numel() / dims, dims});
  Edges edges;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t count = bins[static_cast<size_t>(d)];
    TENON_CHECK(count > 0, "[histogram] bins must be > 0, but got ", count, " for dimension ", d);
    const auto [first, last] = outer_edges(points, d, range);
    edges.push_back(tenon::linspace(first, last, count + 1, self.options()));
  }
  return edges;
}

Tensor native::_histogramdd_from_bin_cts(const Tensor& self, IntArrayRef bins, Range range,
                                         const std::optional<Tensor>& weight, bool density) {
  return std::get<0>(histogramdd(self, bins, range, weight, density));
}

std::tuple<Tensor, Edges> native::histogramdd(const Tensor& self, IntArrayRef bins, Range range,
                                              const std::optional<Tensor>& weight, bool density) {
  Edges edges = ops::_histogramdd_bin_edges::call(self, bins, range, weight, density);
  Tensor hist = ops::_histogramdd_from_bin_tensors::call(self, edges, weight, density);
  return {std::move(hist), std::move(edges)};
}

std::tuple<Tensor, Edges> native::histogramdd_int_bins(const Tensor& self, int64_t bins,
                                                       Range range,
                                                       const std::optional<Tensor>& weight,
                                                       bool density) {
  return histogramdd(self, DimVector(static_cast<size_t>(self.size(-1)), bins), range, weight,
                     density);
}

std::tuple<Tensor, Edges> native::histogramdd_TensorList_bins(const Tensor& self, TensorList bins,
                                                              Range,
                                                              const std::optional<Tensor>& weight,
                                                              bool density) {
  return {ops::_histogramdd_from_bin_tensors::call(self, bins, weight, density),
          Edges(bins.begin(), bins.end())};
}

std::tuple<Tensor, Tensor> native::histogram_bins_tensor(const Tensor& self, const Tensor& bins,
                                                         const std::optional<Tensor>& weight,
                                                         bool density) {
  return {ops::_histogramdd_from_bin_tensors::call(as_points(self), bins, as_weights(weight, self),
                                                   density),
          bins.clone()};
}

std::tuple<Tensor, Tensor> native::histogram_bin_ct(const Tensor& self, int64_t bins, Range range,
                                                    const std::optional<Tensor>& weight,
                                                    bool density) {
  auto [hist, edges] = histogramdd(as_points(self), bins, range, as_weights(weight, self), density);
  return {std::move(hist), std::move(edges[0])};
}

}  // namespace tenon
