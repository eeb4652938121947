#include "tenon/native/gather.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/index_walk.h"

namespace tenon {

/// out[i][j][k] = self[index[i][j][k]][j][k] for dim 0, and so on.
void native::gather_cpu(const Tensor& self, int64_t dim, const Tensor& index, bool,
                        const Tensor& out) {
  if (index.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorBase in = contiguous(self);
  const TensorBase at = contiguous(index, kLong);
  const auto* indices = static_cast<const int64_t*>(at.const_data_ptr());
  check_indices("gather", indices, at.numel(), self.dim() == 0 ? 1 : self.sizes()[d], d);
  const IndexWalk walk(at.sizes(), in.sizes(), d);
  const ContiguousOutput result(out);
  dispatch_size(in.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(in.const_data_ptr());
    auto* to = static_cast<T*>(result.data());
    const int64_t inner = walk.inner();
    const int64_t stride = walk.inner_stride();
    const int64_t step = walk.step();
    parallel_for(0, walk.outer() * inner, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t o = i / inner;
        const T* row = from + walk.offset(o);
        const int64_t stop = std::min(end, (o + 1) * inner);
        for (int64_t j = i - o * inner; i < stop; ++i, ++j)
          to[i] = row[j * stride + indices[i] * step];
      }
    });
  });
  result.copy_back();
}

}  // namespace tenon
