#include "tenon/native/_linalg_svd.h"

#include <vector>

#include "aten/common/linalg_error.h"
#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/finite.h"
#include "tenon/ops/_linalg_check_errors.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

using native::lapack::Int;

/// LAPACK's gesdd for matrices [m, n], column-major, with its workspace.
template <typename T>
class SingularValues {
 public:
  using Real = native::lapack::RealOf<T>;

  /// `job` is 'A' for all vectors, 'S' for the first min(m, n), 'N' for none.
  SingularValues(char job, int64_t m, int64_t n)
      : lapack_(native::lapack::routines<T>("linalg.svd")), job_(job),
        m_(native::lapack::to_int("linalg.svd", m)), n_(native::lapack::to_int("linalg.svd", n)),
        vh_rows_(job == 'S' ? std::min(m_, n_) : n_) {
    const auto k = static_cast<size_t>(std::min(m, n)), l = static_cast<size_t>(std::max(m, n));
    integers_.resize(8 * k);
    if (native::lapack::kIsComplex<T>) {
      // As many as LAPACK's documentation asks for.
      reals_.resize(job == 'N' ? 7 * k : k * std::max(5 * k + 5, 2 * l + 2 * k + 1));
    }
    T asked{};
    run(nullptr, nullptr, nullptr, nullptr, &asked, -1);
    work_.resize(static_cast<size_t>(native::lapack::work_size(asked)));
  }

  /// Overwrites the matrix.
  Int run(T* matrix, Real* s, T* u, T* vh) {
    return run(matrix, s, u, vh, work_.data(), static_cast<Int>(work_.size()));
  }

 private:
  Int run(T* matrix, Real* s, T* u, T* vh, T* work, Int length) {
    return lapack_.gesdd(job_, m_, n_, matrix, m_, s, u, m_, vh, vh_rows_, work, length,
                         reals_.data(), integers_.data());
  }

  const native::lapack::Routines<T>& lapack_;
  char job_;
  Int m_, n_, vh_rows_;
  std::vector<T> work_;
  std::vector<Real> reals_;
  std::vector<Int> integers_;
};

template <typename T>
void decompose(const Tensor& A, char job, const Tensor& U, const Tensor& S, const Tensor& Vh,
               const Tensor& info) {
  using Real = native::lapack::RealOf<T>;
  const Tensor matrices = A.transpose(-2, -1).clone(MemoryFormat::Contiguous);
  const int64_t batch = native::lapack::matrix_count(A), m = A.size(-2), n = A.size(-1);
  const int64_t k = std::min(m, n);
  T* const a = matrices.mutable_data_ptr<T>();
  for (int64_t i = 0; i < batch; ++i) {
    if (native::lapack::all_finite(a + i * m * n, m * n)) continue;
    const std::string place =
        A.dim() == 2 ? std::string() : detail::concat("(Batch element ", i, "): ");
    throw LinAlgError("[linalg.svd] " + place +
                      "The algorithm failed to converge because the input matrix contained "
                      "non-finite values.");
  }
  Real* const s = S.mutable_data_ptr<Real>();
  T* const u = job == 'N' ? nullptr : U.mutable_data_ptr<T>();
  T* const vh = job == 'N' ? nullptr : Vh.mutable_data_ptr<T>();
  const int64_t u_size = job == 'N' ? 0 : m * U.size(-1),
                vh_size = job == 'N' ? 0 : n * Vh.size(-2);
  auto* const codes = info.mutable_data_ptr<int32_t>();
  const double flops = (job == 'N' ? 4.0 : 14.0) * static_cast<double>(m * n) * double(k);
  native::lapack::for_matrices(batch, flops, [&](int64_t i, int64_t end) {
    SingularValues<T> singular(job, m, n);
    for (; i < end; ++i) {
      codes[i] = singular.run(a + i * m * n, s + i * k, u + i * u_size, vh + i * vh_size);
    }
  });
}

/// Square matrices [..., n, n] become the identity.
void set_identity(const Tensor& matrices) {
  if (matrices.dim() < 2 || matrices.numel() == 0) return;
  matrices.zero_();
  matrices.diagonal(0, -2, -1).fill_(1);
}

}  // namespace

/// A = U diag(S) Vh of matrices [..., m, n]: U [..., m, k] and Vh [..., k, n] with k = min(m, n),
/// or [..., m, m] and [..., n, n] with full_matrices; S descends. Without compute_uv S alone.
void native::_linalg_svd_cpu(const Tensor& A, bool full_matrices, bool compute_uv,
                             std::optional<std::string_view>, const Tensor& U, const Tensor& S,
                             const Tensor& Vh) {
  if (A.size(-1) == 0 || A.size(-2) == 0) {
    set_identity(U);
    set_identity(Vh);
    return;
  }
  const char job = !compute_uv ? 'N' : full_matrices ? 'A' : 'S';
  const Tensor info = zeros({lapack::matrix_count(A)}, TensorOptions(kInt));
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), "linalg.svd",
                                      { decompose<scalar_t>(A, job, U, S, Vh, info); });
  tenon::_linalg_check_errors(info, "linalg.svd", A.dim() == 2);
}

}  // namespace tenon
