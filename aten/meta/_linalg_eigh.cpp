#include "tenon/native/_linalg_eigh.h"

#include "aten/meta/matrices.h"

namespace tenon {

std::array<TensorSpec, 2> native::_linalg_eigh_meta(const Tensor& A, std::string_view UPLO,
                                                    bool compute_v) {
  meta::check_square("linalg.eigh", "A", A);
  meta::check_lapack_dtype("linalg.eigh", A);
  TENON_CHECK(UPLO == "L" || UPLO == "l" || UPLO == "U" || UPLO == "u",
              "[linalg.eigh] Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  DimVector values = meta::batch_sizes(A);
  values.push_back(A.size(-1));
  return {TensorSpec(values, to_real(A.scalar_type()), A.device()).kept_apart(),
          (compute_v ? meta::column_major(meta::batch_sizes(A), A.size(-1), A.size(-1), A)
                     : TensorSpec(DimVector{0}, A))
              .kept_apart()};
}

}  // namespace tenon
