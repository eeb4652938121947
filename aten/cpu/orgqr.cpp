#include "tenon/native/orgqr.h"

#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/reflectors.h"
#include "aten/iterator/element_copy.h"

namespace tenon {

/// The first n columns of the product of the reflections in `self`, [..., m, n], and `input2`
/// (tau).
void native::orgqr_cpu(const Tensor& self, const Tensor& input2, const Tensor& out) {
  native::copy(out, self);
  const Tensor tau = input2.contiguous();
  TENON_DISPATCH_FLOATING_AND_COMPLEX(out.scalar_type(), "linalg.householder_product", {
    const int64_t m = out.size(-2), n = out.size(-1), k = tau.size(-1);
    auto* const matrices = out.mutable_data_ptr<scalar_t>();
    const auto* const scales = tau.const_data_ptr<scalar_t>();
    lapack::for_matrices(n == 0 ? 0 : lapack::matrix_count(out), lapack::qr_flops(m, n),
                         [&](int64_t i, int64_t end) {
                           lapack::Reflectors<scalar_t> reflectors("linalg.householder_product");
                           for (; i < end; ++i) {
                             reflectors.multiply(m, n, k, matrices + i * m * n, m, scales + i * k);
                           }
                         });
  });
}

}  // namespace tenon
