#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/cpu/linalg/systems.h"
#include "tenon/native/linalg_lu_factor_ex.h"
#include "tenon/native/linalg_lu_solve.h"
#include "tenon/ops/_linalg_check_errors.h"

namespace tenon {
namespace {

/// Rows that are exchanged are rows of the matrix: LAPACK would write beside it.
void check_pivots(const Tensor& pivots, int64_t rows) {
  const TensorBase given = native::contiguous(pivots, kInt);
  const auto* const first = static_cast<const int32_t*>(given.const_data_ptr());
  const int32_t* const last = first + given.numel();
  TENON_CHECK(std::all_of(first, last, [](int32_t p) { return p >= 1; }),
              "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass "
              "the result of lu_factor?");
  TENON_CHECK(std::all_of(first, last, [rows](int32_t p) { return p <= rows; }),
              "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you "
              "properly pass the result of lu_factor?");
}

}  // namespace

void native::linalg_lu_factor_ex_cpu(const Tensor& A, bool, bool check_errors, const Tensor& LU,
                                     const Tensor& pivots, const Tensor& info) {
  const char* const op = "linalg.lu_factor";
  const lapack::Int m = lapack::to_int(op, A.size(-2)), n = lapack::to_int(op, A.size(-1));
  const lapack::Int k = std::min(m, n);
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> from(A, lapack::batch_of(A));
    auto* const to = lapack::column_major<scalar_t>(LU);
    auto* const exchanges = pivots.mutable_data_ptr<int32_t>();
    auto* const infos = info.mutable_data_ptr<int32_t>();
    lapack::for_matrices(
        lapack::matrix_count(A), double(m) * n * k, [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            scalar_t* const a = to + b * m * n;
            lapack::copy_columns(from[b], from.row(), from.column(), m, n, a);
            int32_t* const pivot = exchanges + b * k;
            infos[b] = k == 0                                ? 0
                       : m == n && n <= lapack::small::kRows ? lapack::small::getrf(n, a, pivot)
                                                             : routines.getrf(m, n, a, m, pivot);
          }
        });
  });
  if (check_errors) _linalg_check_errors(info, op, A.dim() == 2);
}

void native::linalg_lu_solve_cpu(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                                 bool adjoint, const Tensor& out) {
  const char* const op = "linalg.lu_solve";
  if (out.numel() == 0) return;
  check_pivots(pivots, LU.size(-2));
  TENON_DISPATCH_FLOATING_AND_COMPLEX(B.scalar_type(), op, {
    const lapack::LuFactors<scalar_t> factors(LU, pivots, lapack::batch_of(out));
    const lapack::Systems<scalar_t> systems(op, factors, B, out, left, adjoint ? 'C' : 'N');
    lapack::for_matrices(systems.count(), systems.flops(), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) systems.solve(b);
    });
  });
}

}  // namespace tenon
