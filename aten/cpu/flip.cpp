#include "tenon/native/flip.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/common/dims.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"

namespace tenon {

void native::flip_cpu(const Tensor& self, IntArrayRef dims, const Tensor& out) {
  if (out.numel() == 0) return;
  const uint64_t mask = dim_mask("flip", dims, self.dim(), false);
  const TensorBase in = contiguous(self);
  const ContiguousOutput result(out);
  const int64_t rank = in.dim();
  const int64_t inner = rank == 0 ? 1 : in.sizes().back();
  const bool reverse = rank > 0 && ((mask >> (rank - 1)) & 1);
  dispatch_size(in.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(in.const_data_ptr());
    auto* to = static_cast<T*>(result.data());
    parallel_for(0, in.numel() / inner, std::max<int64_t>(1, 16384 / inner),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) {
                     int64_t rest = row;
                     int64_t source = 0;
                     int64_t pitch = inner;
                     for (int64_t d = rank - 1; d-- > 0;) {
                       const int64_t size = in.sizes()[d];
                       const int64_t at = rest % size;
                       rest /= size;
                       source += ((mask >> d) & 1 ? size - 1 - at : at) * pitch;
                       pitch *= size;
                     }
                     if (reverse) {
                       std::reverse_copy(from + source, from + source + inner, to + row * inner);
                     } else {
                       std::copy(from + source, from + source + inner, to + row * inner);
                     }
                   }
                 });
  });
  result.copy_back();
}

}  // namespace tenon
