#include "tenon/native/_linalg_eigh.h"

#include <vector>

#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/finite.h"
#include "aten/iterator/element_copy.h"
#include "tenon/ops/_linalg_check_errors.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

/// The eigenvalues of Hermitian matrices [n, n], of which the triangle `uplo` is read; with
/// `vectors` these overwrite the matrices.
template <typename T>
void decompose(const Tensor& matrices, const Tensor& values, char uplo, bool vectors,
               const Tensor& info) {
  using Real = native::lapack::RealOf<T>;
  using native::lapack::Int;
  const int64_t order = matrices.size(-1);
  T* const a = matrices.mutable_data_ptr<T>();
  Real* const w = values.mutable_data_ptr<Real>();
  auto* const codes = info.mutable_data_ptr<int32_t>();
  const auto cube = static_cast<double>(order * order) * static_cast<double>(order);
  native::lapack::for_matrices(
      order == 0 ? 0 : native::lapack::matrix_count(matrices), (vectors ? 9 : 2) * cube,
      [&](int64_t i, int64_t end) {
        const auto& lapack = native::lapack::routines<T>("linalg.eigh");
        const char job = vectors ? 'V' : 'N';
        const Int n = native::lapack::to_int("linalg.eigh", order);
        T asked{};
        Real real_asked = 0;
        Int integers_asked = 0;
        lapack.heevd(job, uplo, n, a, n, w, &asked, -1, &real_asked, -1, &integers_asked, -1);
        const Int length = native::lapack::work_size(asked),
                  reals = native::lapack::work_size(real_asked);
        std::vector<T> work(static_cast<size_t>(length));
        std::vector<Real> real_work(static_cast<size_t>(reals));
        std::vector<Int> integers(static_cast<size_t>(integers_asked));
        for (; i < end; ++i) {
          T* const matrix = a + i * order * order;
          codes[i] = order == 1 || native::lapack::all_finite(matrix, order * order)
                         ? lapack.heevd(job, uplo, n, matrix, n, w + i * order, work.data(), length,
                                        real_work.data(), reals, integers.data(), integers_asked)
                         : n;
        }
      });
}

}  // namespace

/// A = V diag(L) V^H of Hermitian matrices [..., n, n]: L [..., n] ascends, V [..., n, n] is
/// unitary. Only the lower triangle is read, or the upper one with UPLO "U".
void native::_linalg_eigh_cpu(const Tensor& A, std::string_view UPLO, bool compute_v,
                              const Tensor& eigenvalues, const Tensor& eigenvectors) {
  const Tensor matrices = compute_v ? eigenvectors : A.transpose(-2, -1).contiguous().clone();
  if (compute_v) native::copy(matrices, A);
  const Tensor info = zeros({lapack::matrix_count(A)}, TensorOptions(kInt));
  const char uplo = UPLO == "U" || UPLO == "u" ? 'U' : 'L';
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), "linalg.eigh", {
    decompose<scalar_t>(matrices, eigenvalues, uplo, compute_v, info);
  });
  tenon::_linalg_check_errors(info, "linalg.eigh", A.dim() == 2);
}

}  // namespace tenon
