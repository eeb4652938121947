#include "tenon/native/linalg_solve_triangular.h"

#include "aten/cpu/linalg/matrix_access.h"

namespace tenon {

void native::linalg_solve_triangular_cpu(const Tensor& self, const Tensor& B, bool upper, bool left,
                                         bool unitriangular, const Tensor& out) {
  const char* const op = "linalg.solve_triangular";
  if (out.numel() == 0) return;
  const lapack::Int n = lapack::to_int(op, self.size(-1));
  const lapack::Int rows = lapack::to_int(op, B.size(-2)), columns = lapack::to_int(op, B.size(-1));
  // Columns or rows that follow one another at any distance are read as they are; rows as the
  // columns of the transposed matrix, whose other triangle is meant.
  const auto follows = [n](int64_t near, int64_t far) {
    return near == 1 && far >= n && far <= std::numeric_limits<lapack::Int>::max();
  };
  Tensor A = self;
  const bool by_columns = follows(A.stride(-2), A.stride(-1)) || n == 1;
  const bool by_rows = !by_columns && follows(A.stride(-1), A.stride(-2));
  if (!by_columns && !by_rows) A = A.contiguous();
  const bool transposed = !by_columns;
  const auto distance = n == 1 ? 1 : A.stride(transposed ? -2 : -1);
  TENON_DISPATCH_FLOATING_AND_COMPLEX(B.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> matrices(A, lapack::batch_of(out));
    const lapack::Matrices<scalar_t> right(B, lapack::batch_of(out));
    auto* const to = lapack::column_major<scalar_t>(out);
    const int64_t size = int64_t{rows} * columns;
    lapack::for_matrices(
        lapack::matrix_count(out), double(size) * n, [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            scalar_t* const x = to + b * size;
            lapack::copy_columns(right[b], right.row(), right.column(), rows, columns, x);
            routines.trsm(left ? 'L' : 'R', upper != transposed ? 'U' : 'L', transposed ? 'T' : 'N',
                          unitriangular ? 'U' : 'N', rows, columns, scalar_t(1), matrices[b],
                          static_cast<lapack::Int>(distance), x, rows);
          }
        });
  });
}

}  // namespace tenon
