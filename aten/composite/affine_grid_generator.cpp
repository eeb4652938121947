#include "tenon/native/affine_grid_generator.h"

#include "tenon/ops/bmm.h"
#include "tenon/ops/linspace.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

/// Coordinates of n elements from -1 to 1: of their middles, or from the first to the last one.
Tensor coordinates(int64_t n, bool align_corners, const TensorOptions& options) {
  if (n <= 1) return zeros({n}, options);
  const Tensor places = linspace(-1, 1, n, options);
  return align_corners ? places : (places * (n - 1) / n).to(options.dtype());
}

}  // namespace

/// The coordinates of all elements of an image of `size` [N, C, H, W] or [N, C, D, H, W], (x, y, 1)
/// or (x, y, z, 1), times theta [N, 2, 3] or [N, 3, 4]: [N, H, W, 2] or [N, D, H, W, 3].
Tensor native::affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  TENON_CHECK(dims == 2 || dims == 3,
              "[affine_grid_generator] AffineGridGenerator needs 4d (spatial) or 5d (volumetric) "
              "inputs, got size ",
              size);
  for (const int64_t n : size) {
    TENON_CHECK(n >= 0, "[affine_grid_generator] Trying to create tensor with negative dimension ",
                n, ": ", size);
  }
  const Tensor maps = theta.transpose(1, 2);  // IndexError of fewer dimensions, as PyTorch's
  TENON_CHECK(theta.dim() == 3 && theta.size(0) == size[0] && theta.size(2) == dims + 1 &&
                  (theta.size(1) == dims || theta.numel() == 0),
              "[affine_grid_generator] expected theta of sizes [", size[0], ", ", dims, ", ",
              dims + 1, "] for size ", size, ", got ", theta.sizes());
  const IntArrayRef spatial = size.slice(2);
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < dims; ++i) {
    DimVector shape(static_cast<size_t>(dims), 1);
    const auto d = static_cast<size_t>(dims - 1 - i);
    shape[d] = spatial[d];
    columns.push_back(
        coordinates(spatial[d], align_corners, theta.options()).view(shape).expand(spatial));
  }
  columns.push_back(tenon::ones(spatial, theta.options()));
  const Tensor base = tenon::stack(columns, -1);
  const int64_t points = numel_of(spatial);
  DimVector sizes{size[0]};
  sizes.append(spatial.begin(), spatial.end());
  sizes.push_back(theta.size(1));
  return base.view({1, points, dims + 1}).expand({size[0], points, dims + 1}).bmm(maps).view(sizes);
}

}  // namespace tenon
