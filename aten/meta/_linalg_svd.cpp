#include "tenon/native/_linalg_svd.h"

#include "aten/meta/matrices.h"

namespace tenon {

std::array<TensorSpec, 3> native::_linalg_svd_meta(const Tensor& A, bool full_matrices,
                                                   bool compute_uv,
                                                   std::optional<std::string_view> driver) {
  meta::check_matrix("linalg.svd", "A", A);
  meta::check_lapack_dtype("linalg.svd", A);
  TENON_CHECK(!driver,
              "[linalg.svd] keyword argument `driver=` is only supported on CUDA inputs with "
              "cuSOLVER backend.");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const DimVector batch = meta::batch_sizes(A);
  DimVector values = batch;
  values.push_back(k);
  TensorSpec singular = TensorSpec(values, to_real(A.scalar_type()), A.device()).kept_apart();
  if (!compute_uv) {
    const TensorSpec none = TensorSpec(DimVector{0}, A).kept_apart();
    return {none, singular, none};
  }
  return {meta::column_major(batch, m, full_matrices ? m : k, A).kept_apart(), singular,
          meta::column_major(batch, full_matrices ? n : k, n, A).kept_apart()};
}

}  // namespace tenon
