#include "tenon/native/mode.h"

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "tenon/native/sort.h"

namespace tenon {
namespace {

/// Of a sorted row the last place of the first longest run of equal elements; NaN equals nothing.
template <class T>
int64_t end_of_longest_run(const T* row, int64_t n, int64_t step) {
  int64_t best = 0, longest = 0, begin = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i + 1 < n && row[i * step] == row[(i + 1) * step]) continue;
    if (i + 1 - begin > longest) {
      longest = i + 1 - begin;
      best = i;
    }
    begin = i + 1;
  }
  return best;
}

}  // namespace

/// Rows are sorted; of equally frequent elements the smallest is taken, by its last place.
void native::mode_cpu(const Tensor& self, int64_t dim, bool, const Tensor& values,
                      const Tensor& indices) {
  if (values.numel() == 0) return;
  const Tensor sorted(empty(self.sizes(), self.scalar_type(), kCPU));
  const Tensor order(empty(self.sizes(), kLong, kCPU));
  sort_stable_cpu(self, true, dim, false, sorted, order);
  const ContiguousOutput value(values), place(indices);
  const DimSplit split(self.sizes(), dim);
  TENON_DISPATCH_REAL(self.scalar_type(), "mode", {
    const auto* from = static_cast<const scalar_t*>(sorted.const_data_ptr());
    const auto* from_place = static_cast<const int64_t*>(order.const_data_ptr());
    parallel_for(
        0, split.outer * split.inner, std::max<int64_t>(1, 32768 / split.length),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = i / split.inner * split.length * split.inner + i % split.inner;
            const int64_t at =
                row + end_of_longest_run(from + row, split.length, split.inner) * split.inner;
            value.data<scalar_t>()[i] = from[at];
            place.data<int64_t>()[i] = from_place[at];
          }
        });
  });
  value.copy_back();
  place.copy_back();
}

}  // namespace tenon
