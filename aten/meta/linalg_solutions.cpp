#include "aten/meta/matrices.h"
#include "tenon/native/_linalg_solve_ex.h"
#include "tenon/native/cholesky_inverse.h"
#include "tenon/native/linalg_inv_ex.h"
#include "tenon/native/linalg_ldl_solve.h"
#include "tenon/native/linalg_lu_solve.h"
#include "tenon/native/linalg_solve_triangular.h"

namespace tenon {
namespace {

using meta::batch_sizes;
using meta::column_major;

/// Of A X = B, column by column; of X A = B row by row if `rows`.
TensorSpec solution(const char* op, const Tensor& A, const Tensor& B, bool rows = false) {
  DimVector sizes = meta::broadcast_batch(op, batch_sizes(A), batch_sizes(B));
  if (!rows) return column_major(std::move(sizes), B.size(-2), B.size(-1), B).kept_apart();
  sizes.push_back(B.size(-2));
  sizes.push_back(B.size(-1));
  return TensorSpec(sizes, B).kept_apart();
}

void check_pivots(const char* op, const char* factors, const Tensor& A, const Tensor& pivots) {
  TENON_CHECK(pivots.sizes() == A.sizes().slice(0, static_cast<size_t>(A.dim() - 1)), "[", op,
              "] Expected ", factors, ".shape[:-1] and pivots.shape to be the same, but got ",
              "pivots with shape ", pivots.sizes(), " instead");
  meta::check_same_device(op, factors, A, "pivots", pivots);
}

}  // namespace

/// X [..., n, k] with A X = B, or [..., k, n] with X A = B if not left, where A is triangular: the
/// other triangle is not read, nor is the diagonal if `unitriangular` says that it is made of ones.
TensorSpec native::linalg_solve_triangular_meta(const Tensor& self, const Tensor& B, bool,
                                                bool left, bool) {
  const char* const op = "linalg.solve_triangular";
  meta::check_square(op, "A", self);
  meta::check_matrix(op, "B", B);
  meta::check_system(op, "A", self, B, left);
  meta::check_lapack_dtype(op, self);
  return solution(op, self, B);
}

/// X with A X = B (X A = B if not left; A^H in place of A if adjoint) of what linalg_lu_factor
/// gives for A.
TensorSpec native::linalg_lu_solve_meta(const Tensor& LU, const Tensor& pivots, const Tensor& B,
                                        bool left, bool) {
  const char* const op = "linalg.lu_solve";
  meta::check_lapack_dtype(op, LU);
  meta::check_square(op, "A", LU);
  meta::check_matrix(op, "B", B);
  meta::check_system(op, "LU", LU, B, left);
  TENON_CHECK(pivots.scalar_type() == kInt, "[", op,
              "] pivots should be a Tensor of scalar type torch.int32");
  TENON_CHECK(pivots.size(-1) == LU.size(-1), "[", op,
              "] Number of pivots per batch should be same as the dimension of the matrix");
  check_pivots(op, "LU", LU, pivots);
  return solution(op, LU, B, !left);
}

/// X with A X = B of what linalg_ldl_factor gives for A.
TensorSpec native::linalg_ldl_solve_meta(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                                         bool) {
  const char* const op = "linalg.ldl_solve";
  meta::check_square(op, "A", LD);
  meta::check_lapack_dtype(op, LD);
  B.size(-2);  // IndexError of fewer dimensions, as PyTorch's
  TENON_CHECK(LD.scalar_type() == B.scalar_type(), "[", op,
              "] Expected b and A to have the same dtype, but found b of type ", B.scalar_type(),
              " and A of type ", LD.scalar_type(), " instead.");
  TENON_CHECK(LD.size(-1) == B.size(-2), "[", op, "] Incompatible matrix sizes for ", op,
              ": each A matrix is ", LD.size(-2), " by ", LD.size(-1), " but each b matrix is ",
              B.size(-2), " by ", B.size(-1));
  meta::check_same_device(op, "LD", LD, "B", B);
  TENON_CHECK(is_integral(pivots.scalar_type(), false), "[", op,
              "] Expected pivots to be integers. Got ", pivots.scalar_type());
  check_pivots(op, "LD", LD, pivots);
  return solution(op, LD, B);
}

/// The inverse of A, given its Cholesky factor [..., n, n], the lower one unless `upper`.
TensorSpec native::cholesky_inverse_meta(const Tensor& self, bool) {
  meta::check_square("cholesky_inverse", "A", self);
  meta::check_lapack_dtype("cholesky_inverse", self);
  return column_major(batch_sizes(self), self.size(-2), self.size(-1), self).kept_apart();
}

/// The inverses of matrices [..., n, n]. `info` is 0, or the place of the first zero that makes the
/// matrix singular.
std::array<TensorSpec, 2> native::linalg_inv_ex_meta(const Tensor& A, bool) {
  meta::check_square("linalg.inv", "A", A);
  meta::check_lapack_dtype("linalg.inv", A);
  return {column_major(batch_sizes(A), A.size(-2), A.size(-1), A).kept_apart(),
          TensorSpec(batch_sizes(A), kInt, A.device()).kept_apart()};
}

/// X with A X = B (X A = B if not left), and the factors that it is computed from: those of the
/// transposed matrices if A is real and contiguous. B [..., n, k] is broadcast with A [..., n, n];
/// a B of A's sizes without the last is a vector [..., n], as is one of one dimension.
std::array<TensorSpec, 4> native::_linalg_solve_ex_meta(const Tensor& A, const Tensor& B, bool left,
                                                        bool) {
  const char* const op = "linalg.solve";
  meta::check_lapack_dtype(op, A);
  TENON_CHECK(A.scalar_type() == B.scalar_type(), "[", op,
              "] Expected A and B to have the same dtype, but found A of type ", A.scalar_type(),
              " and B of type ", B.scalar_type(), " instead");
  meta::check_square(op, "A", A);
  meta::check_same_device(op, "A", A, "B", B);
  const bool is_vector = B.dim() == 1 || (A.dim() - 1 == B.dim() &&
                                          B.sizes() == A.sizes().slice(0, A.sizes().size() - 1));
  DimVector of_B(B.sizes());
  if (is_vector) of_B.push_back(1);
  TENON_CHECK(of_B.size() >= 2, "[", op,
              "] The input tensor B must have at least 2 dimensions, got ", B.sizes());
  const int64_t rows = of_B[of_B.size() - 2], columns = of_B.back();
  TENON_CHECK(left ? A.size(-2) == rows : A.size(-1) == columns, "[", op,
              "] Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
              " (", A.size(-2), "x", A.size(-1), " and ", rows, "x", columns, ")");
  DimVector sizes =
      meta::broadcast_batch(op, batch_sizes(A), IntArrayRef(of_B).slice(0, of_B.size() - 2));
  TENON_CHECK(left || !is_vector, "[", op,
              "] Vector broadcasting of the left hand side is not supported for left=False. In ",
              "this case linalg.solve is equivalent to B / A.squeeze(-1)");
  sizes.push_back(rows);
  if (!is_vector) sizes.push_back(columns);
  TensorSpec result = TensorSpec(sizes, A).kept_apart();
  if (left && sizes.size() >= 2) {
    const int64_t r = sizes[sizes.size() - 2], c = sizes.back();
    sizes.resize(sizes.size() - 2);
    result = column_major(std::move(sizes), r, c, A).kept_apart();
  }
  DimVector pivots = batch_sizes(A);
  pivots.push_back(A.size(-1));
  return {result, column_major(batch_sizes(A), A.size(-2), A.size(-1), A).kept_apart(),
          TensorSpec(pivots, kInt, A.device()).kept_apart(),
          TensorSpec(batch_sizes(A), kInt, A.device()).kept_apart()};
}

}  // namespace tenon
