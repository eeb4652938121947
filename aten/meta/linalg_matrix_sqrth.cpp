#include "tenon/native/linalg_matrix_sqrth.h"
#include "aten/meta/matrices.h"
#include "tenon/native/linalg_polar.h"

namespace tenon {

void native::linalg_matrix_sqrth_check(const Tensor& self) {
  meta::check_square("linalg.matrix_sqrth", "A", self);
  meta::check_lapack_dtype("linalg.matrix_sqrth", self);
}

void native::linalg_polar_check(const Tensor& A) {
  meta::check_matrix("linalg.polar", "A", A);
  meta::check_lapack_dtype("linalg.polar", A);
  TENON_CHECK(A.size(-2) >= A.size(-1),
              "[linalg.polar] input must have at least as many rows as columns, but got ",
              A.size(-2), " by ", A.size(-1), " matrices");
}

}  // namespace tenon
