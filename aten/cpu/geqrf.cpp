#include "tenon/native/geqrf.h"

#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/reflectors.h"
#include "aten/iterator/element_copy.h"

namespace tenon {

/// A = Q R of matrices [..., m, n]: R on and above the diagonal of `a`; below it, and in `tau`
/// [..., min(m, n)], the reflections I - tau v v^H whose product is Q.
void native::geqrf_cpu(const Tensor& self, const Tensor& a, const Tensor& tau) {
  native::copy(a, self);
  TENON_DISPATCH_FLOATING_AND_COMPLEX(a.scalar_type(), "geqrf", {
    const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
    auto* const matrices = a.mutable_data_ptr<scalar_t>();
    auto* const scales = tau.mutable_data_ptr<scalar_t>();
    lapack::for_matrices(k == 0 ? 0 : lapack::matrix_count(a), lapack::qr_flops(m, n),
                         [&](int64_t i, int64_t end) {
                           lapack::Reflectors<scalar_t> reflectors("geqrf");
                           for (; i < end; ++i)
                             reflectors.factor(m, n, matrices + i * m * n, m, scales + i * k);
                         });
  });
}

}  // namespace tenon
