#include "tenon/native/cholesky_inverse.h"

#include "aten/cpu/linalg/matrix_access.h"
#include "tenon/ops/_linalg_check_errors.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

template <class T>
T conjugate(T a) {
  if constexpr (native::lapack::kIsComplex<T>) return std::conj(a);
  return a;
}

}  // namespace

void native::cholesky_inverse_cpu(const Tensor& self, bool upper, const Tensor& out) {
  const char* const op = "cholesky_inverse";
  const lapack::Int n = lapack::to_int(op, self.size(-1));
  if (self.numel() == 0) return;
  const Tensor info = zeros({lapack::matrix_count(self)}, TensorOptions(kInt));
  TENON_DISPATCH_FLOATING_AND_COMPLEX(self.scalar_type(), op, {
    const auto& routines = lapack::routines<scalar_t>(op);
    const lapack::Matrices<scalar_t> from(self, lapack::batch_of(self));
    auto* const to = lapack::column_major<scalar_t>(out);
    auto* const infos = info.mutable_data_ptr<int32_t>();
    lapack::for_matrices(lapack::matrix_count(self), n * double(n) * n,
                         [&](int64_t begin, int64_t end) {
                           for (int64_t b = begin; b < end; ++b) {
                             scalar_t* const a = to + b * n * n;
                             lapack::copy_columns(from[b], from.row(), from.column(), n, n, a);
                             infos[b] = routines.potri(upper ? 'U' : 'L', n, a, n);
                             for (int64_t j = 0; j < n; ++j) {
                               for (int64_t i = 0; i < j; ++i) {
                                 scalar_t& above = a[j * n + i];
                                 scalar_t& below = a[i * n + j];
                                 (upper ? below : above) = conjugate(upper ? above : below);
                               }
                             }
                           }
                         });
  });
  _linalg_check_errors(info, op, self.dim() == 2);
}

}  // namespace tenon
