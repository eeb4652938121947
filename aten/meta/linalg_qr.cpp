#include "tenon/native/linalg_qr.h"

#include "aten/common/check_device.h"
#include "aten/meta/matrices.h"
#include "tenon/native/geqrf.h"
#include "tenon/native/orgqr.h"
#include "tenon/native/ormqr.h"

namespace tenon {
namespace {

/// The reflections in a matrix [..., m, n] have scales [..., k], k <= n.
void check_scales(const char* op, const Tensor& matrix, const Tensor& scales) {
  TENON_CHECK(scales.scalar_type() == matrix.scalar_type(), "[", op, "] tau dtype ",
              scales.scalar_type(), " does not match input dtype ", matrix.scalar_type());
  TENON_CHECK(scales.dim() == matrix.dim() - 1, "[", op,
              "] Expected tau to have one dimension less than input, but got tau.ndim equal to ",
              scales.dim(), " and input.ndim is equal to ", matrix.dim());
  const IntArrayRef batch = scales.sizes().slice(0, static_cast<size_t>(scales.dim() - 1));
  TENON_CHECK(batch == IntArrayRef(meta::batch_sizes(matrix)), "[", op,
              "] Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
              batch);
  meta::check_same_device(op, "input", matrix, "tau", scales);
}

}  // namespace

std::array<TensorSpec, 2> native::geqrf_meta(const Tensor& self) {
  TENON_CHECK(self.dim() >= 2, "[geqrf] input must have at least 2 dimensions.");
  meta::check_lapack_dtype("geqrf", self);
  DimVector scales = meta::batch_sizes(self);
  scales.push_back(std::min(self.size(-2), self.size(-1)));
  return {
      meta::column_major(meta::batch_sizes(self), self.size(-2), self.size(-1), self).kept_apart(),
      TensorSpec(scales, self).kept_apart()};
}

TensorSpec native::orgqr_meta(const Tensor& self, const Tensor& input2) {
  const Tensor &input = self, &tau = input2;
  const char* const op = "linalg.householder_product";
  TENON_CHECK(input.dim() >= 2, "[", op, "] input must have at least 2 dimensions.");
  TENON_CHECK(input.size(-2) >= input.size(-1), "[", op,
              "] input.shape[-2] must be greater than or equal to input.shape[-1]");
  TENON_CHECK(input.size(-1) >= tau.size(-1), "[", op,
              "] input.shape[-1] must be greater than or equal to tau.shape[-1]");
  check_scales(op, input, tau);
  meta::check_lapack_dtype(op, input);
  return meta::column_major(meta::batch_sizes(input), input.size(-2), input.size(-1), input)
      .kept_apart();
}

TensorSpec native::ormqr_meta(const Tensor& self, const Tensor& input2, const Tensor& input3,
                              bool left, bool) {
  const Tensor &tau = input2, &other = input3;
  TENON_CHECK(self.dim() >= 2, "[ormqr] input must have at least 2 dimensions.");
  TENON_CHECK(other.dim() >= 2, "[ormqr] other must have at least 2 dimensions.");
  const int64_t side = left ? -2 : -1;
  TENON_CHECK(other.size(side) == self.size(-2), "[ormqr] other.shape[", side,
              "] must be equal to input.shape[-2]");
  TENON_CHECK(tau.size(-1) == std::min(other.size(side), self.size(-1)),
              "[ormqr] tau.shape[-1] must be equal to min(other.shape[", side,
              "], input.shape[-1])");
  TENON_CHECK(tau.scalar_type() == self.scalar_type(),
              "[ormqr] Expected input and tau to have the same dtype, but input has dtype ",
              self.scalar_type(), " and tau has dtype ", tau.scalar_type());
  check_scales("ormqr", self, tau);
  TENON_CHECK(other.dim() == self.dim(),
              "[ormqr] Expected other to have the same number of dimensions as input, but got "
              "other.ndim equal to ",
              other.dim(), " and input.ndim is equal to ", self.dim());
  TENON_CHECK(meta::batch_sizes(other) == meta::batch_sizes(self),
              "[ormqr] Expected batch dimensions of other to be equal to input.shape[:-2], but "
              "got ",
              meta::batch_sizes(other));
  TENON_CHECK(other.scalar_type() == self.scalar_type(),
              "[ormqr] Expected input and other to have the same dtype, but input has dtype ",
              self.scalar_type(), " and other has dtype ", other.scalar_type());
  meta::check_same_device("ormqr", "input", self, "other", other);
  meta::check_lapack_dtype("ormqr", self);
  return meta::column_major(meta::batch_sizes(other), other.size(-2), other.size(-1), other)
      .kept_apart();
}

std::array<TensorSpec, 2> native::linalg_qr_meta(const Tensor& A, std::string_view mode) {
  meta::check_matrix("linalg.qr", "A", A);
  meta::check_lapack_dtype("linalg.qr", A);
  TENON_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "[linalg.qr] qr received ",
              "unrecognized mode '", mode,
              "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = A.size(-2), n = A.size(-1);
  const int64_t columns = mode == "complete" ? m : std::min(m, n);
  const DimVector batch = meta::batch_sizes(A);
  return {(mode == "r" ? TensorSpec(DimVector{0}, A) : meta::column_major(batch, m, columns, A))
              .kept_apart(),
          meta::column_major(batch, columns, n, A).kept_apart()};
}

}  // namespace tenon
