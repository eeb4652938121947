#include "tenon/native/masked_select.h"

#include "aten/common/contiguous.h"
#include "aten/common/masked_shape.h"
#include "aten/cpu/dispatch_size.h"
#include "tenon/native/nonzero.h"
#include "tenon/ops/expand.h"

#include <algorithm>
#include <memory>

namespace tenon {

/// The elements where the mask is true, both broadcast to one shape, in row-major order: [count].
Tensor native::masked_select_cpu(const Tensor& self, const Tensor& mask) {
  const DimVector shape = masked_shape(self, mask);
  const TensorBase values =
      contiguous(self.sizes() == IntArrayRef(shape) ? self : ops::expand::call(self, shape, false));
  const TensorBase chosen =
      contiguous(mask.sizes() == IntArrayRef(shape) ? mask : ops::expand::call(mask, shape, false));
  const auto* m = static_cast<const uint8_t*>(chosen.const_data_ptr());
  const int64_t n = chosen.numel();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += m[i];
  Tensor result = tenon::empty(count, self.scalar_type(), kCPU);
  dispatch_size(self.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(values.const_data_ptr());
    auto* to = static_cast<T*>(result.mutable_data_ptr());
    // Every element is written and the place only advances past a chosen one: no branch to
    // mispredict.
    int64_t k = 0;
    int64_t i = 0;
    for (; i < n && k < count; ++i) {
      to[k] = from[i];
      k += m[i];
    }
  });
  return result;
}

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
