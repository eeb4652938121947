#include "tenon/native/linalg_eig.h"

#include "aten/meta/matrices.h"
#include "tenon/native/_linalg_eigvals.h"

namespace tenon {
namespace {

TensorSpec eigenvalues(const char* op, const Tensor& A) {
  meta::check_square(op, "A", A);
  meta::check_lapack_dtype(op, A);
  DimVector sizes = meta::batch_sizes(A);
  sizes.push_back(A.size(-1));
  return TensorSpec(sizes, to_complex(A.scalar_type()), A.device()).kept_apart();
}

}  // namespace

std::array<TensorSpec, 2> native::linalg_eig_meta(const Tensor& self) {
  TensorSpec values = eigenvalues("linalg.eig", self);
  TensorSpec vectors =
      meta::column_major(meta::batch_sizes(self), self.size(-1), self.size(-1), self).kept_apart();
  vectors.dtype = values.dtype;
  return {values, vectors};
}

TensorSpec native::_linalg_eigvals_meta(const Tensor& self) {
  return eigenvalues("linalg.eigvals", self);
}

}  // namespace tenon
