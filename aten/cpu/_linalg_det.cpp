#include "tenon/native/_linalg_det.h"

#include <cmath>

#include "aten/cpu/linalg/matrix_access.h"
#include "tenon/native/_linalg_slogdet.h"

namespace tenon {
namespace {

namespace lapack = native::lapack;

/// Factors all matrices of A, or their transposes, and calls found(b, diagonal, is_odd) for each:
/// element i of U's diagonal is diagonal[i * (n + 1)], and is_odd says whether the determinant is
/// minus their product.
template <class T, class Found>
void factor_all(const char* op, const Tensor& A, const Tensor& LU, const Tensor& pivots,
                Found&& found) {
  const lapack::Int n = lapack::to_int(op, A.size(-1));
  const auto& routines = lapack::routines<T>(op);
  const lapack::Matrices<T> from(A, lapack::batch_of(A));
  const bool transposed = lapack::factors_transpose(A);
  auto* const factors = lapack::column_major<T>(LU);
  auto* const exchanges = pivots.mutable_data_ptr<int32_t>();
  lapack::for_matrices(
      lapack::matrix_count(A), n * double(n) * n * 2 / 3, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          T* const a = factors + b * n * n;
          int32_t* const pivot = exchanges + b * n;
          // A pivot of zero is no error here.
          lapack::factor_lu(routines, from[b], transposed ? from.column() : from.row(),
                            transposed ? from.row() : from.column(), n, a, pivot);
          bool is_odd = false;
          for (int32_t i = 0; i < n; ++i) is_odd ^= pivot[i] != i + 1;
          found(b, a, n, is_odd);
        }
      });
}

}  // namespace

void native::_linalg_det_cpu(const Tensor& A, const Tensor& result, const Tensor& LU,
                             const Tensor& pivots) {
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), "linalg.det", {
    auto* const to = result.mutable_data_ptr<scalar_t>();
    factor_all<scalar_t>("linalg.det", A, LU, pivots,
                         [to](int64_t b, const scalar_t* diagonal, int64_t n, bool is_odd) {
                           scalar_t product = 1;
                           for (int64_t i = 0; i < n; ++i) product *= diagonal[i * (n + 1)];
                           to[b] = is_odd ? -product : product;
                         });
  });
}

void native::_linalg_slogdet_cpu(const Tensor& A, const Tensor& sign, const Tensor& logabsdet,
                                 const Tensor& LU, const Tensor& pivots) {
  TENON_DISPATCH_FLOATING_AND_COMPLEX(A.scalar_type(), "linalg.slogdet", {
    using real_t = lapack::RealOf<scalar_t>;
    auto* const signs = sign.mutable_data_ptr<scalar_t>();
    auto* const logs = logabsdet.mutable_data_ptr<real_t>();
    factor_all<scalar_t>("linalg.slogdet", A, LU, pivots,
                         [=](int64_t b, const scalar_t* diagonal, int64_t n, bool is_odd) {
                           scalar_t product = is_odd ? -1 : 1;
                           real_t sum = 0;
                           for (int64_t i = 0; i < n; ++i) {
                             const scalar_t value = diagonal[i * (n + 1)];
                             const real_t size = std::abs(value);
                             product *= size == 0 ? scalar_t(0) : value / size;
                             sum += std::log(size);
                           }
                           signs[b] = product;
                           logs[b] = sum;
                         });
  });
}

}  // namespace tenon
