#include "tenon/native/index_add.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/index_range.h"
#include "aten/cpu/sum_of.h"
#include "aten/iterator/element_copy.h"

namespace tenon {
namespace {

/// Columns whose rows are worth reading by a thread of their own: some cache lines.
constexpr int64_t kColumns = 64;

}  // namespace

/// out = self; out[i][index[k]][j] += alpha * source[i][k][j], in the order of k.
void native::index_add_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& source, const Scalar& alpha, const Tensor& out) {
  const ContiguousOutput result(out);
  if (!result.tensor().is_same(self)) native::copy(result.tensor(), self);
  const int64_t d = wrap_dim(dim, self.dim());
  const DimSplit split(self.sizes(), d);
  const TensorBase at = contiguous(index, kLong);
  const TensorBase src = contiguous(source);
  const int64_t count = at.numel();
  const int64_t* indices = checked_indices("index_add", at, split.length, d, false);
  TENON_DISPATCH_ALL(self.scalar_type(), "index_add", {
    const auto* s = static_cast<const scalar_t*>(src.const_data_ptr());
    auto* o = static_cast<scalar_t*>(result.data());
    const auto factor = alpha.to<scalar_t>();
    const bool one = alpha.equal(1);
    // Every worker adds the same rows, to columns of its own: the order of k stays.
    const auto columns = [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < split.outer; ++i) {
        for (int64_t k = 0; k < count; ++k) {
          const scalar_t* from = s + (i * count + k) * split.inner;
          scalar_t* to = o + (i * split.length + indices[k]) * split.inner;
          if (one) {
            for (int64_t j = begin; j < end; ++j) to[j] = sum_of(to[j], from[j]);
          } else {
            for (int64_t j = begin; j < end; ++j)
              to[j] = sum_of(to[j], product_of(factor, from[j]));
          }
        }
      }
    };
    const int64_t rows = std::max<int64_t>(1, split.outer * count);
    parallel_for(0, split.inner, std::max<int64_t>(kColumns, 32768 / rows), columns);
  });
  result.copy_back();
}

}  // namespace tenon
