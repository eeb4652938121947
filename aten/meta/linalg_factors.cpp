#include "aten/meta/matrices.h"
#include "tenon/native/_linalg_det.h"
#include "tenon/native/_linalg_slogdet.h"
#include "tenon/native/linalg_cholesky_ex.h"
#include "tenon/native/linalg_ldl_factor_ex.h"
#include "tenon/native/linalg_lu_factor_ex.h"
#include "tenon/native/lu_unpack.h"

namespace tenon {
namespace {

using meta::batch_sizes;
using meta::column_major;

/// `info` of each matrix.
TensorSpec infos(const Tensor& A) {
  return TensorSpec(batch_sizes(A), kInt, A.device()).kept_apart();
}

/// The exchanges of a factorization of A with k pivots.
TensorSpec pivots_of(const Tensor& A, int64_t k) {
  DimVector sizes = batch_sizes(A);
  sizes.push_back(k);
  return TensorSpec(sizes, kInt, A.device()).kept_apart();
}

TensorSpec factors_of(const Tensor& A) {
  return column_major(batch_sizes(A), A.size(-2), A.size(-1), A).kept_apart();
}

void check_determinant(const char* op, const Tensor& A) {
  meta::check_square(op, "A", A);
  meta::check_lapack_dtype(op, A);
}

}  // namespace

/// The Cholesky factor L of A = L L^H, or with upper U of A = U^H U, of matrices [..., n, n] of
/// which only that triangle is read. `info` [...] is 0, or the order of the first leading minor
/// that is not positive; check_errors makes that a LinAlgError.
std::array<TensorSpec, 2> native::linalg_cholesky_ex_meta(const Tensor& self, bool, bool) {
  meta::check_square("linalg.cholesky", "A", self);
  meta::check_lapack_dtype("linalg.cholesky", self);
  return {factors_of(self), infos(self)};
}

/// A = P L U of matrices [..., m, n] with k = min(m, n): L [m, k] below the diagonal of LU, its own
/// being 1, and U [k, n] on and above it; row i was exchanged with row pivots[i], counted from 1.
/// `info` is 0, or the place of the first zero on U's diagonal.
std::array<TensorSpec, 3> native::linalg_lu_factor_ex_meta(const Tensor& A, bool pivot, bool) {
  TENON_CHECK(A.dim() >= 2, "[linalg.lu_factor] Expected tensor with 2 or more dimensions. Got ",
              "size: ", A.sizes(), " instead");
  meta::check_lapack_dtype("linalg.lu_factor", A);
  TENON_CHECK(pivot || A.device().type() != DeviceType::CPU,
              "[linalg.lu_factor] LU without pivoting is not implemented on the CPU");
  return {factors_of(A), pivots_of(A, std::min(A.size(-2), A.size(-1))), infos(A)};
}

/// A = L D L^T, or with hermitian A = L D L^H, of matrices [..., n, n] of which the lower triangle
/// is read: L below the diagonal, D's blocks on it and below. `info` is 0, or the place of the
/// first zero on D's diagonal.
std::array<TensorSpec, 3> native::linalg_ldl_factor_ex_meta(const Tensor& self, bool, bool) {
  check_determinant("linalg.ldl_factor_ex", self);
  return {factors_of(self), pivots_of(self, self.size(-1)), infos(self)};
}

/// The determinants of matrices [..., n, n], with the factors that they are computed from: those of
/// the transposed matrices if A is real and contiguous.
std::array<TensorSpec, 3> native::_linalg_det_meta(const Tensor& A) {
  check_determinant("linalg.det", A);
  return {TensorSpec(batch_sizes(A), A).kept_apart(), factors_of(A), pivots_of(A, A.size(-1))};
}

/// sign exp(logabsdet) is the determinant of each matrix. The factors are those of `_linalg_det`.
std::array<TensorSpec, 4> native::_linalg_slogdet_meta(const Tensor& A) {
  check_determinant("linalg.slogdet", A);
  return {TensorSpec(batch_sizes(A), A).kept_apart(),
          TensorSpec(batch_sizes(A), to_real(A.scalar_type()), A.device()).kept_apart(),
          factors_of(A), pivots_of(A, A.size(-1))};
}

/// P [..., m, m], L [..., m, k] and U [..., k, n] of what linalg_lu_factor gives, k = min(m, n).
/// Without unpack_data L and U are empty, without unpack_pivots P is.
std::array<TensorSpec, 3> native::lu_unpack_meta(const Tensor& LU_data, const Tensor& LU_pivots,
                                                 bool unpack_data, bool unpack_pivots) {
  TENON_CHECK(LU_data.dim() >= 2, "[lu_unpack] Expected tensor with 2 or more dimensions. Got ",
              "size: ", LU_data.sizes(), " instead");
  TENON_CHECK(!unpack_pivots || LU_pivots.scalar_type() == kInt,
              "[lu_unpack] LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n",
              "Note: this function is intended to be used with the output produced by ",
              "torch.linalg.lu_factor");
  const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  const DimVector batch = batch_sizes(LU_data);
  DimVector pivots = batch;
  pivots.push_back(k);
  TENON_CHECK_VALUE(!unpack_pivots || LU_pivots.sizes() == IntArrayRef(pivots),
                    "[lu_unpack] Expected LU_pivots to have shape ", IntArrayRef(pivots),
                    " but got ", LU_pivots.sizes(), " instead.");
  const auto part = [&](bool wanted, int64_t rows, int64_t columns) {
    DimVector sizes = batch;
    sizes.push_back(rows);
    sizes.push_back(columns);
    return TensorSpec(wanted ? sizes : DimVector{0}, LU_data).kept_apart();
  };
  return {part(unpack_pivots, m, m), part(unpack_data, m, k), part(unpack_data, k, n)};
}

}  // namespace tenon
