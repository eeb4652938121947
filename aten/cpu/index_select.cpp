#include "tenon/native/index_select.h"

#include <algorithm>
#include <cstring>

#include "aten/core/parallel.h"
#include "aten/cpu/index_range.h"
#include "aten/cpu/strided_dim.h"

namespace tenon {

/// out[i][k][j] = self[i][index[k]][j]
void native::index_select_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorBase in = dense(self);
  const TensorBase at = dense(index, kLong);
  const DimSplit split(in.sizes(), d);
  const int64_t count = at.numel();
  const auto* indices = static_cast<const int64_t*>(at.const_data_ptr());
  const bool fits = all_in_range(indices, count, split.length);
  for (int64_t k = 0; !fits && k < count; ++k) {
    TENON_CHECK_INDEX(indices[k] >= 0 && indices[k] < split.length,
                      "[index_select] index out of range in self: index ", indices[k],
                      " is out of bounds for dimension ", d, " with size ", split.length);
  }
  const DenseOutput result(out);
  const auto* from = static_cast<const char*>(in.const_data_ptr());
  auto* to = static_cast<char*>(result.data());
  dispatch_size(in.element_size(), [&]<class T>() {
    const int64_t inner = split.inner;
    const int64_t grain = std::max<int64_t>(1, 65536 / (inner * static_cast<int64_t>(sizeof(T))));
    parallel_for(0, split.outer * count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t o = i / count;
        const int64_t stop = std::min(end, (o + 1) * count);
        const char* block = from + o * split.length * inner * static_cast<int64_t>(sizeof(T));
        const int64_t* at_i = indices - o * count;
        if (inner == 1) {
          for (; i < stop; ++i)
            reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(block)[at_i[i]];
        } else {
          const size_t bytes = static_cast<size_t>(inner) * sizeof(T);
          for (; i < stop; ++i) std::memcpy(to + i * bytes, block + at_i[i] * bytes, bytes);
        }
      }
    });
  });
  result.finish();
}

}  // namespace tenon
