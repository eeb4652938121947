#include "tenon/native/_kth_place.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"

namespace tenon {
namespace {

/// Whether a is larger; NaN is the largest number.
template <class T>
bool larger(T a, T b) {
  return (a != a && b == b) || a > b;
}

/// A row of values and where they stood.
template <class T>
struct Places {
  T* values;
  int64_t* places;

  void exchange(int64_t i, int64_t j) {
    std::swap(values[i], values[j]);
    std::swap(places[i], places[j]);
  }
  void order(int64_t i, int64_t j) {
    if (larger(values[i], values[j])) exchange(i, j);
  }
  /// Brings the k-th smallest of n to its place by Hoare's selection, the median of three as pivot
  /// (Press et al., Numerical Recipes, section 8.5). Among equal values the order of the exchanges
  /// decides: it is PyTorch's.
  void select(int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    while (high > low + 1) {
      exchange((low + high) / 2, low + 1);
      order(low + 1, high);
      order(low, high);
      order(low + 1, low);
      const T pivot = values[low];
      int64_t i = low + 1, j = high;
      for (;;) {
        do ++i;
        while (larger(pivot, values[i]));
        do --j;
        while (larger(values[j], pivot));
        if (j < i) break;
        exchange(i, j);
      }
      exchange(low, j);
      if (j <= k) low = i;
      if (j >= k) high = j - 1;
    }
    if (high == low + 1) order(low, high);
  }
};

}  // namespace

Tensor native::_kth_place_cpu(const Tensor& self, int64_t k, int64_t dim) {
  const TensorBase in = contiguous(self);
  const DimSplit split(self.sizes(), dim);
  DimVector sizes(self.sizes());
  sizes[static_cast<size_t>(dim)] = 1;
  Tensor out = tenon::empty(sizes, kLong, kCPU);
  auto* const to = static_cast<int64_t*>(out.mutable_data_ptr());
  const int64_t n = split.length, inner = split.inner;
  TENON_DISPATCH_REAL(self.scalar_type(), "kthvalue", {
    using V = opmath_type<scalar_t>;
    const auto* const from = static_cast<const scalar_t*>(in.const_data_ptr());
    const int64_t grain = std::max<int64_t>(1, 16384 / (n + 1));
    parallel_for(0, split.outer * inner, grain, [&](int64_t begin, int64_t end) {
      const auto values = std::make_unique_for_overwrite<V[]>(static_cast<size_t>(n));
      const auto places = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n));
      for (int64_t row = begin; row < end; ++row) {
        const scalar_t* const first = from + row / inner * n * inner + row % inner;
        for (int64_t i = 0; i < n; ++i) values[i] = static_cast<V>(first[i * inner]);
        std::iota(places.get(), places.get() + n, int64_t{0});
        Places<V>{values.get(), places.get()}.select(n, k);
        to[row] = places[k];
      }
    });
  });
  return out;
}

}  // namespace tenon
