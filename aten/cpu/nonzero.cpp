#include "tenon/native/nonzero.h"

#include <algorithm>
#include <memory>

#include "aten/common/contiguous.h"

namespace tenon {

/// The indices of the elements that are not zero, one row each: [count, dim].
Tensor native::nonzero_cpu(const Tensor& self) {
  const TensorBase in = contiguous(self);
  const int64_t rank = self.dim();
  const int64_t n = in.numel();
  const auto places = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n) + 1);
  int64_t count = 0;
  TENON_DISPATCH_ALL(in.scalar_type(), "nonzero", {
    const auto* p = static_cast<const scalar_t*>(in.const_data_ptr());
    for (int64_t i = 0; i < n; ++i) {
      places[count] = i;
      count += p[i] != scalar_t(0);
    }
  });
  // The indices of one dimension lie one behind the other.
  const Tensor result = tenon::empty({rank, count}, kLong, kCPU);
  auto* out = static_cast<int64_t*>(result.mutable_data_ptr());
  if (rank == 1) {
    std::copy(places.get(), places.get() + count, out);
  } else {
    for (int64_t k = 0; k < count; ++k) {
      int64_t place = places[k];
      for (int64_t d = rank; d-- > 0;) {
        out[d * count + k] = place % in.sizes()[d];
        place /= in.sizes()[d];
      }
    }
  }
  TensorBase rows = make_detached(result);
  rows.unsafe_impl()->set_sizes_and_strides(DimVector{count, rank}, DimVector{1, count});
  return rows;
}

}  // namespace tenon
