#include "tenon/native/tril.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "tenon/native/triu.h"

namespace tenon {
namespace {

/// Of every matrix the elements below (above) the diagonal, the others zero.
void triangle(const Tensor& self, int64_t diagonal, bool lower, const Tensor& out) {
  if (out.numel() == 0) return;
  const TensorBase in = native::contiguous(self);
  const native::ContiguousOutput result(out);
  const int64_t rows = in.size(-2);
  const int64_t columns = in.size(-1);
  // Further out nothing changes any more, and sums cannot overflow.
  const int64_t shift = std::clamp(diagonal, -rows - 1, columns + 1);
  native::dispatch_size(in.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(in.const_data_ptr());
    auto* to = static_cast<T*>(result.data());
    parallel_for(
        0, in.numel() / columns, std::max<int64_t>(1, 16384 / columns),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T* p = from + i * columns;
            T* q = to + i * columns;
            // Lower: columns up to and including row + diagonal; upper: from there on.
            const int64_t cut = std::clamp<int64_t>(i % rows + shift + (lower ? 1 : 0), 0, columns);
            if (p != q) {
              std::copy(lower ? p : p + cut, lower ? p + cut : p + columns, lower ? q : q + cut);
            }
            std::fill(lower ? q + cut : q, lower ? q + columns : q + cut, T{});
          }
        });
  });
  result.copy_back();
}

}  // namespace

void native::tril_cpu(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle(self, diagonal, true, out);
}
void native::triu_cpu(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle(self, diagonal, false, out);
}

}  // namespace tenon
