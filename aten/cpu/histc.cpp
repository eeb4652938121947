#include "tenon/native/histc.h"

#include <algorithm>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/meta/histc_range.h"

namespace tenon {

/// The place of an element is computed step by step in self's dtype, as if by operators.
Tensor native::histc_cpu(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  const auto [low, high] = histc_range(self, bins, min, max);
  const Tensor out(empty({bins}, self.scalar_type(), kCPU));
  const TensorBase in = contiguous(self);
  std::vector<std::vector<int64_t>> counts(static_cast<size_t>(get_num_threads()));
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "histc", {
    using W = opmath_type<scalar_t>;
    const auto rounded = [](W value) { return static_cast<W>(static_cast<scalar_t>(value)); };
    const W first = rounded(static_cast<W>(low)), last = rounded(static_cast<W>(high));
    const W width = rounded(last - first), factor = rounded(static_cast<W>(bins));
    const auto* x = static_cast<const scalar_t*>(in.const_data_ptr());
    parallel_for(0, self.numel(), 16384, [&](int64_t begin, int64_t end) {
      std::vector<int64_t>& mine = counts[static_cast<size_t>(get_thread_num())];
      mine.resize(static_cast<size_t>(bins));
      for (int64_t i = begin; i < end; ++i) {
        const auto value = static_cast<W>(x[i]);
        if (!(value >= first && value <= last)) continue;
        const auto at =
            static_cast<int64_t>(rounded(rounded(rounded(value - first) * factor) / width));
        ++mine[static_cast<size_t>(std::clamp<int64_t>(at, 0, bins - 1))];
      }
    });
    auto* to = static_cast<scalar_t*>(out.mutable_data_ptr());
    for (int64_t k = 0; k < bins; ++k) {
      int64_t sum = 0;
      for (const auto& mine : counts) sum += mine.empty() ? 0 : mine[static_cast<size_t>(k)];
      to[k] = static_cast<scalar_t>(static_cast<W>(sum));
    }
  });
  return out;
}

}  // namespace tenon
