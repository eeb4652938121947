#include "tenon/native/_linalg_solve_ex.h"

#include "aten/cpu/linalg/systems.h"
#include "tenon/ops/_linalg_check_errors.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/empty.h"

namespace tenon {

void native::_linalg_solve_ex_cpu(const Tensor& A, const Tensor& B, bool left, bool check_errors,
                                  const Tensor& result, const Tensor& LU, const Tensor& pivots,
                                  const Tensor& info) {
  const char* const op = "linalg.solve";
  const lapack::Int n = lapack::to_int(op, A.size(-1));
  // A batch of vectors is column-major, as if it were one matrix.
  const bool is_vector = result.dim() < B.dim() || B.dim() == 1 ||
                         (B.dim() == A.dim() - 1 && B.sizes() == A.sizes().slice(0, A.dim() - 1));
  const Tensor right = is_vector ? B.unsqueeze(-1) : B;
  Tensor solution = result;
  if (is_vector) {
    solution = result.dim() == 1 ? result.unsqueeze(-1)
                                 : empty(result.sizes(), result.options()).unsqueeze(-1);
  }
  const IntArrayRef batch = lapack::batch_of(solution);
  const bool together = batch == lapack::batch_of(A);
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> from(A, lapack::batch_of(A));
    auto* const factors = lapack::column_major<scalar_t>(LU);
    auto* const exchanges = pivots.mutable_data_ptr<int32_t>();
    auto* const infos = info.mutable_data_ptr<int32_t>();
    const auto factor = [&](int64_t b) {
      infos[b] = lapack::factor_lu(routines, from[b], from.row(), from.column(), n,
                                   factors + b * n * n, exchanges + b * n);
    };
    const double flops = n * double(n) * n * 2 / 3;
    const auto factor_all = [&] {
      lapack::for_matrices(lapack::matrix_count(A), flops, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) factor(b);
      });
    };
    if (!together || solution.numel() == 0) factor_all();
    if (solution.numel() > 0) {
      const lapack::LuFactors<scalar_t> used(LU, pivots, batch);
      const lapack::Systems<scalar_t> systems(op, used, right, solution, left, 'N');
      lapack::for_matrices(systems.count(), systems.flops() + (together ? flops : 0),
                           [&](int64_t begin, int64_t end) {
                             for (int64_t b = begin; b < end; ++b) {
                               if (together) factor(b);
                               systems.solve(b);
                             }
                           });
    }
  });
  if (is_vector && result.dim() > 1) result.copy_(solution.squeeze(-1));
  if (check_errors) _linalg_check_errors(info, op, A.dim() == 2);
}

}  // namespace tenon
