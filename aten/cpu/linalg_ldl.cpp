#include <algorithm>
#include <vector>

#include "aten/cpu/linalg/matrix_access.h"
#include "tenon/native/linalg_ldl_factor_ex.h"
#include "tenon/native/linalg_ldl_solve.h"
#include "tenon/ops/_linalg_check_errors.h"

namespace tenon {
namespace {

/// Rows and columns that are exchanged are the matrix's: LAPACK would write beside it.
/// The pivots as LAPACK's, which no matrix has beside it.
Tensor exchanges_of(const Tensor& pivots, int64_t n) {
  const Tensor given = pivots.to(kLong).contiguous();
  const auto* const first = static_cast<const int64_t*>(given.const_data_ptr());
  TENON_CHECK(std::all_of(first, first + given.numel(),
                          [n](int64_t p) { return p != 0 && -n <= p && p <= n; }),
              "[linalg.ldl_solve] expected pivots between 1 and ", n,
              " or their negatives, as ldl_factor gives them");
  return given.to(kInt);
}

}  // namespace

void native::linalg_ldl_factor_ex_cpu(const Tensor& self, bool hermitian, bool check_errors,
                                      const Tensor& LD, const Tensor& pivots, const Tensor& info) {
  const char* const op = "linalg.ldl_factor_ex";
  const lapack::Int n = lapack::to_int(op, self.size(-1));
  TENON_DISPATCH_FLOATING_AND_COMPLEX(self.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> from(self, lapack::batch_of(self));
    auto* const to = lapack::column_major<scalar_t>(LD);
    auto* const exchanges = pivots.mutable_data_ptr<int32_t>();
    auto* const infos = info.mutable_data_ptr<int32_t>();
    const auto factor = [&](scalar_t* a, int32_t* pivot, scalar_t* work, lapack::Int size) {
      return hermitian ? routines.hetrf('L', n, a, n, pivot, work, size)
                       : routines.sytrf('L', n, a, n, pivot, work, size);
    };
    scalar_t asked = 0;
    if (n > 0) factor(to, exchanges, &asked, -1);
    const lapack::Int work_size = lapack::work_size(asked);
    lapack::for_matrices(
        lapack::matrix_count(self), n * double(n) * n / 3, [&](int64_t begin, int64_t end) {
          std::vector<scalar_t> work(static_cast<size_t>(work_size));
          for (int64_t b = begin; b < end; ++b) {
            scalar_t* const a = to + b * n * n;
            lapack::copy_columns(from[b], from.row(), from.column(), n, n, a);
            for (int64_t j = 0; j < n; ++j) std::fill(a + j * n, a + j * n + j, scalar_t(0));
            infos[b] = n == 0 ? 0 : factor(a, exchanges + b * n, work.data(), work_size);
          }
        });
  });
  if (check_errors) _linalg_check_errors(info, op, self.dim() == 2);
}

void native::linalg_ldl_solve_cpu(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                                  bool hermitian, const Tensor& out) {
  const char* const op = "linalg.ldl_solve";
  if (out.numel() == 0) return;
  const lapack::Int n = lapack::to_int(op, LD.size(-1)), columns = lapack::to_int(op, B.size(-1));
  const Tensor factors = LD.transpose(-2, -1).contiguous(), exchanges = exchanges_of(pivots, n);
  TENON_DISPATCH_FLOATING_AND_COMPLEX(B.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> matrices(factors, lapack::batch_of(out));
    const lapack::Matrices<lapack::Int> pivot(exchanges, lapack::batch_of(out), 1);
    const lapack::Matrices<scalar_t> right(B, lapack::batch_of(out));
    auto* const to = lapack::column_major<scalar_t>(out);
    const int64_t size = int64_t{n} * columns;
    lapack::for_matrices(lapack::matrix_count(out), 2. * size * n, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        scalar_t* const x = to + b * size;
        lapack::copy_columns(right[b], right.row(), right.column(), n, columns, x);
        if (hermitian) {
          routines.hetrs('L', n, columns, matrices[b], n, pivot[b], x, n);
        } else {
          routines.sytrs('L', n, columns, matrices[b], n, pivot[b], x, n);
        }
      }
    });
  });
}

}  // namespace tenon
