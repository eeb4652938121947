#include "tenon/native/_linalg_svd.h"

#include <algorithm>

#include "aten/meta/tensor_spec.h"

namespace tenon {
namespace {

/// Matrices in the last two dimensions, one after the other, each column by column.
TensorSpec matrices(DimVector sizes, int64_t rows, int64_t columns, const Tensor& like) {
  sizes.push_back(rows);
  sizes.push_back(columns);
  DimVector strides(sizes.size(), 1);
  int64_t step = std::max<int64_t>(rows, 1) * std::max<int64_t>(columns, 1);
  for (auto d = static_cast<int64_t>(sizes.size()) - 3; d >= 0; --d) {
    strides[static_cast<size_t>(d)] = step;
    step *= std::max<int64_t>(sizes[static_cast<size_t>(d)], 1);
  }
  strides.back() = std::max<int64_t>(rows, 1);
  return TensorSpec(sizes, strides, like.scalar_type(), like.device()).kept_apart();
}

}  // namespace

std::array<TensorSpec, 3> native::_linalg_svd_meta(const Tensor& A, bool full_matrices,
                                                   bool compute_uv,
                                                   std::optional<std::string_view> driver) {
  TENON_CHECK(A.dim() >= 2, "[linalg.svd] The input tensor A must have at least 2 dimensions, got ",
              A.sizes());
  TENON_CHECK(is_differentiable(A.scalar_type()) && !is_reduced_floating_point(A.scalar_type()),
              "[linalg.svd] Expected a tensor of float, double or complex numbers, got ",
              A.scalar_type());
  TENON_CHECK(!driver, "[linalg.svd] keyword argument `driver=` is only supported on CUDA inputs");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  DimVector batch(A.sizes().begin(), A.sizes().end() - 2), values = batch;
  values.push_back(k);
  TensorSpec singular = TensorSpec(values, to_real(A.scalar_type()), A.device()).kept_apart();
  if (!compute_uv) {
    const TensorSpec none = TensorSpec(DimVector{0}, A).kept_apart();
    return {none, singular, none};
  }
  return {matrices(batch, m, full_matrices ? m : k, A), singular,
          matrices(batch, full_matrices ? n : k, n, A)};
}

}  // namespace tenon
