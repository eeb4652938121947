#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "tenon/native/_histogramdd_from_bin_tensors.h"
#include "tenon/ops/diff.h"
#include "tenon/ops/div.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sum.h"

namespace tenon {
namespace {

/// The ascending edges of the bins of one dimension; the last bin has its end.
template <class T>
class Edges {
 public:
  explicit Edges(const TensorBase& edges)
      : at_(static_cast<const T*>(edges.const_data_ptr())), bins_(edges.numel() - 1),
        first_(at_[0]), last_(at_[bins_]) {
    if (last_ > first_) per_unit_ = static_cast<T>(bins_) / (last_ - first_);
    if (!std::isfinite(per_unit_)) per_unit_ = 0;
  }
  int64_t bins() const { return bins_; }

  /// The bin that x is in, or -1.
  int64_t operator()(T x) const {
    if (!(x >= first_ && x <= last_)) return -1;
    const auto guess = std::min(static_cast<int64_t>((x - first_) * per_unit_), bins_ - 1);
    // Edges that lie evenly have it there or beside it.
    for (const int64_t k : {guess, guess - 1, guess + 1}) {
      if (k >= 0 && k < bins_ && at_[k] <= x && x < at_[k + 1]) return k;
    }
    return std::min(std::upper_bound(at_, at_ + bins_ + 1, x) - at_ - 1, bins_ - 1);
  }

 private:
  const T* at_;
  int64_t bins_;
  T first_, last_, per_unit_ = 0;
};

/// Adds up how many points [n, dims] each bin has, or their weights in the order of the points.
template <class T>
void count(const T* points, int64_t n, const std::vector<Edges<T>>& edges, const T* weights,
           T* hist, int64_t bins) {
  const auto dims = static_cast<int64_t>(edges.size());
  const auto place = [&](int64_t i) {
    int64_t at = 0;
    for (int64_t d = 0; d < dims; ++d) {
      const Edges<T>& along = edges[static_cast<size_t>(d)];
      const int64_t k = along(points[i * dims + d]);
      if (k < 0) return int64_t{-1};
      at = at * along.bins() + k;
    }
    return at;
  };
  if (weights) {
    std::vector<int64_t> places(static_cast<size_t>(n));
    parallel_for(0, n, 8192, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) places[static_cast<size_t>(i)] = place(i);
    });
    std::vector<double> sums(static_cast<size_t>(bins));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = places[static_cast<size_t>(i)];
      if (at >= 0) sums[static_cast<size_t>(at)] += static_cast<double>(weights[i]);
    }
    for (int64_t k = 0; k < bins; ++k) hist[k] = static_cast<T>(sums[static_cast<size_t>(k)]);
    return;
  }
  const int64_t threads = get_num_threads();
  std::vector<std::vector<int64_t>> counts(static_cast<size_t>(threads));
  parallel_for(0, n, 8192, [&](int64_t begin, int64_t end) {
    std::vector<int64_t>& mine = counts[static_cast<size_t>(get_thread_num())];
    mine.resize(static_cast<size_t>(bins));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = place(i);
      if (at >= 0) ++mine[static_cast<size_t>(at)];
    }
  });
  for (int64_t k = 0; k < bins; ++k) {
    int64_t sum = 0;
    for (const auto& mine : counts) sum += mine.empty() ? 0 : mine[static_cast<size_t>(k)];
    hist[k] = static_cast<T>(sum);
  }
}

}  // namespace

/// Counts of the points self [..., dims] in the bins between ascending edges, or sums of weights
/// [...]; divided by their sum and the bins' volumes if `density`. Points outside count nowhere.
Tensor native::_histogramdd_from_bin_tensors_cpu(const Tensor& self, TensorList bins,
                                                 const std::optional<Tensor>& weight,
                                                 bool density) {
  const auto dims = static_cast<int64_t>(bins.size());
  TENON_CHECK(self.dim() >= 2,
              "[histogramdd] input tensor should have at least 2 dimensions, got sizes ",
              self.sizes());
  TENON_CHECK(self.size(-1) == dims, "[histogramdd] expected ", self.size(-1),
              " sequences of bin edges for a ", self.size(-1), "-dimensional histogram but got ",
              dims);
  for (int64_t d = 0; d < dims; ++d) {
    const Tensor& edges = bins[static_cast<size_t>(d)];
    TENON_CHECK(edges.scalar_type() == self.scalar_type(),
                "[histogramdd] input tensor and bins tensors should have the same dtype, but got "
                "input with dtype ",
                self.scalar_type(), " and bins for dimension ", d, " with dtype ",
                edges.scalar_type());
    TENON_CHECK(edges.dim() == 1, "[histogramdd] bins tensor should have one dimension, but got ",
                edges.dim(), " dimensions in the bins tensor for dimension ", d);
    TENON_CHECK(edges.numel() > 0,
                "[histogramdd] bins tensor should have at least 1 element, but got 0 elements in "
                "the bins tensor for dimension ",
                d);
    TENON_CHECK(edges.numel() > 1, "[histogram] bins must be > 0, but got 0 for dimension ", d);
  }
  if (weight) {
    TENON_CHECK(weight->scalar_type() == self.scalar_type(),
                "[histogramdd] if weight tensor is provided, input tensor and weight tensor should "
                "have the same dtype, but got input(",
                self.scalar_type(), "), and weight(", weight->scalar_type(), ")");
    TENON_CHECK(weight->sizes() == self.sizes().slice(0, static_cast<size_t>(self.dim() - 1)),
                "[histogramdd] if weight tensor is provided it should have the same shape as the "
                "input tensor excluding its innermost dimension, but got input with shape ",
                self.sizes(), " and weight with shape ", weight->sizes());
  }
  // Half types are counted, and compared with their edges, in float.
  const ScalarType type = to_opmath_type(self.scalar_type());
  const TensorBase points = contiguous(self, type), weights = contiguous(weight, type);
  DimVector sizes;
  for (const Tensor& edges : bins) sizes.push_back(edges.numel() - 1);
  Tensor hist(empty(sizes, type, kCPU));
  TENON_DISPATCH_FLOATING(type, "histogramdd", {
    std::vector<TensorBase> kept;
    std::vector<Edges<scalar_t>> edges;
    for (const Tensor& e : bins) {
      kept.push_back(contiguous(e, type));
      edges.emplace_back(kept.back());
    }
    count(static_cast<const scalar_t*>(points.const_data_ptr()),
          dims == 0 ? 0 : self.numel() / dims, edges, data_or_null<scalar_t>(weights),
          static_cast<scalar_t*>(hist.mutable_data_ptr()), hist.numel());
  });
  if (!density) return hist.to(self.scalar_type());
  hist = hist / hist.sum();
  for (int64_t d = 0; d < dims; ++d) {
    DimVector shape(static_cast<size_t>(dims), 1);
    shape[d] = -1;
    hist = hist / tenon::diff(bins[static_cast<size_t>(d)]).reshape(shape);
  }
  return hist.to(self.scalar_type());
}

}  // namespace tenon
