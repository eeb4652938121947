#include "tenon/native/linalg_cholesky_ex.h"

#include "aten/cpu/linalg/matrix_access.h"
#include "tenon/ops/_linalg_check_errors.h"

namespace tenon {

void native::linalg_cholesky_ex_cpu(const Tensor& self, bool upper, bool check_errors,
                                    const Tensor& L, const Tensor& info) {
  const char* const op = "linalg.cholesky";
  const lapack::Int n = lapack::to_int(op, self.size(-1));
  TENON_DISPATCH_FLOATING_AND_COMPLEX(self.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> from(self, lapack::batch_of(self));
    auto* const to = lapack::column_major<scalar_t>(L);
    auto* const infos = info.mutable_data_ptr<int32_t>();
    lapack::for_matrices(
        lapack::matrix_count(self), n * double(n) * n / 3, [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            scalar_t* const a = to + b * n * n;
            lapack::copy_columns(from[b], from.row(), from.column(), n, n, a);
            const bool is_small = n <= lapack::small::kRows && !upper;
            infos[b] = is_small ? lapack::small::potrf(n, a)
                       : n == 0 ? 0
                                : routines.potrf(upper ? 'U' : 'L', n, a, n);
            for (int64_t j = 0; j < n; ++j) {
              std::fill(a + j * n + (upper ? j + 1 : 0), a + j * n + (upper ? n : j), scalar_t(0));
            }
          }
        });
  });
  if (check_errors) _linalg_check_errors(info, op, self.dim() == 2);
}

}  // namespace tenon
