#include "tenon/native/linalg_inv_ex.h"

#include <vector>

#include "aten/cpu/linalg/matrix_access.h"
#include "tenon/ops/_linalg_check_errors.h"

namespace tenon {

void native::linalg_inv_ex_cpu(const Tensor& A, bool check_errors, const Tensor& inverse,
                               const Tensor& info) {
  const char* const op = "linalg.inv";
  const lapack::Int n = lapack::to_int(op, A.size(-1));
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> from(A, lapack::batch_of(A));
    auto* const to = lapack::column_major<scalar_t>(inverse);
    auto* const infos = info.mutable_data_ptr<int32_t>();
    scalar_t asked = 0;
    if (n > lapack::small::kRows) routines.getri(n, to, n, nullptr, &asked, -1);
    const lapack::Int work_size = n > lapack::small::kRows ? lapack::work_size(asked) : n * n;
    lapack::for_matrices(lapack::matrix_count(A), 2. * n * n * n, [&](int64_t begin, int64_t end) {
      std::vector<lapack::Int> pivots(static_cast<size_t>(n));
      std::vector<scalar_t> work(static_cast<size_t>(work_size));
      for (int64_t b = begin; b < end; ++b) {
        scalar_t* const a = to + b * n * n;
        infos[b] =
            lapack::factor_lu(routines, from[b], from.row(), from.column(), n, a, pivots.data());
        if (n > lapack::small::kRows) {
          routines.getri(n, a, n, pivots.data(), work.data(), work_size);
        } else {
          lapack::small::invert(n, a, pivots.data(), work.data());
          std::copy_n(work.data(), n * n, a);
        }
      }
    });
  });
  if (check_errors) _linalg_check_errors(info, op, A.dim() == 2);
}

}  // namespace tenon
