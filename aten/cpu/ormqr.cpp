#include "tenon/native/ormqr.h"

#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/reflectors.h"
#include "aten/iterator/element_copy.h"

namespace tenon {

/// Q C, or C Q, or with Q^H: Q is the product of the reflections in `self` and `input2` (tau), C is
/// `input3`.
void native::ormqr_cpu(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left,
                       bool transpose, const Tensor& out) {
  native::copy(out, input3);
  // A copy in any case: LAPACK writes ones into the diagonal while it computes.
  const Tensor a = self.transpose(-2, -1).clone(MemoryFormat::Contiguous);
  const Tensor tau = input2.contiguous();
  TENON_DISPATCH_FLOATING_AND_COMPLEX(out.scalar_type(), "ormqr", {
    const int64_t m = out.size(-2), n = out.size(-1), k = tau.size(-1);
    const int64_t step = self.size(-2) * self.size(-1);
    const auto* const reflections = a.const_data_ptr<scalar_t>();
    const auto* const scales = tau.const_data_ptr<scalar_t>();
    auto* const matrices = out.mutable_data_ptr<scalar_t>();
    lapack::for_matrices(k == 0 || m * n == 0 ? 0 : lapack::matrix_count(out),
                         4.0 * static_cast<double>(m) * static_cast<double>(n * k),
                         [&](int64_t i, int64_t end) {
                           lapack::Reflectors<scalar_t> reflectors("ormqr");
                           for (; i < end; ++i) {
                             reflectors.apply(left, transpose, m, n, k, reflections + i * step,
                                              scales + i * k, matrices + i * m * n);
                           }
                         });
  });
}

}  // namespace tenon
