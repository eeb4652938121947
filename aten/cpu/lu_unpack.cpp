#include "tenon/native/lu_unpack.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "aten/cpu/linalg/matrix_access.h"

namespace tenon {

void native::lu_unpack_cpu(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                           bool unpack_pivots, const Tensor& P, const Tensor& L, const Tensor& U) {
  namespace lapack = native::lapack;
  const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  const int64_t batch = lapack::matrix_count(LU_data);
  const Tensor pivots = unpack_pivots ? LU_pivots.contiguous() : LU_pivots;
  TENON_DISPATCH_FLOATING_AND_COMPLEX(LU_data.scalar_type(), "lu_unpack", {
    const lapack::Matrices<scalar_t> from(LU_data, lapack::batch_of(LU_data));
    auto* const permutations = P.mutable_data_ptr<scalar_t>();
    auto* const lower = L.mutable_data_ptr<scalar_t>();
    auto* const upper = U.mutable_data_ptr<scalar_t>();
    parallel_for(0, batch, 1 + 32768 / (1 + m * (n + m)), [&](int64_t begin, int64_t end) {
      std::vector<int64_t> rows(static_cast<size_t>(m));
      for (int64_t b = begin; b < end; ++b) {
        if (unpack_data) {
          const scalar_t* const a = from[b];
          const auto at = [&](int64_t i, int64_t j) {
            return a[i * from.row() + j * from.column()];
          };
          scalar_t* const l = lower + b * m * k;
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < k; ++j) {
              l[i * k + j] = j < i ? at(i, j) : j == i ? scalar_t(1) : scalar_t(0);
            }
          }
          scalar_t* const u = upper + b * k * n;
          for (int64_t i = 0; i < k; ++i) {
            for (int64_t j = 0; j < n; ++j) u[i * n + j] = j < i ? scalar_t(0) : at(i, j);
          }
        }
        if (!unpack_pivots) continue;
        const int32_t* const pivot = pivots.const_data_ptr<int32_t>() + b * k;
        std::iota(rows.begin(), rows.end(), int64_t{0});
        for (int64_t i = 0; i < k; ++i) {
          TENON_CHECK(pivot[i] >= 1 && pivot[i] <= m,
                      "[lu_unpack] pivots passed to lu_unpack must be between 1 and LU.size(-2) "
                      "inclusive.Did you properly pass the result of lu_factor?");
          std::swap(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(pivot[i] - 1)]);
        }
        scalar_t* const p = permutations + b * m * m;
        std::fill_n(p, m * m, scalar_t(0));
        for (int64_t i = 0; i < m; ++i) p[rows[static_cast<size_t>(i)] * m + i] = 1;
      }
    });
  });
}

}  // namespace tenon
