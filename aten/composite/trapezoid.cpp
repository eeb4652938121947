#include "tenon/native/trapezoid.h"

#include "tenon/native/cumulative_trapezoid.h"

namespace tenon {
namespace {

/// All points along dim but the last, and all but the first.
Tensor before(const Tensor& t, int64_t dim) { return t.slice(dim, 0, -1, 1); }
Tensor after(const Tensor& t, int64_t dim) { return t.slice(dim, 1, std::nullopt, 1); }

/// The steps between the points x, in a shape that broadcasts with y's neighbours. A vector stands
/// for the points along dim; more dimensions are y's last ones.
Tensor steps(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  TENON_CHECK_NOT_IMPLEMENTED(
      y.scalar_type() != kBool && x.scalar_type() != kBool, "[", op, "] received a bool input for ",
      x.scalar_type() == kBool ? "`x`" : "`y`", ", but bool is not supported");
  const int64_t d = wrap_dim(dim, y.dim());
  Tensor points = x;
  if (x.dim() == 1) {
    TENON_CHECK(x.size(0) == y.size(d), "[", op,
                "] There must be one `x` value for each sample point, got ", x.size(0),
                " values and ", y.size(d), " points");
    DimVector sizes(static_cast<size_t>(y.dim()), 1);
    sizes[static_cast<size_t>(d)] = x.size(0);
    points = x.view(sizes);
  } else if (x.dim() < y.dim()) {
    DimVector sizes(static_cast<size_t>(y.dim() - x.dim()), 1);
    sizes.append(x.sizes().begin(), x.sizes().end());
    points = x.reshape(sizes);
  }
  return after(points, d) - before(points, d);
}

void check_step(const char* op, const Tensor& y, const Scalar& dx) {
  TENON_CHECK_NOT_IMPLEMENTED(y.scalar_type() != kBool, "[", op,
                              "] received a bool input for `y`, but bool is not supported");
  TENON_CHECK(!dx.is_complex(), "[", op, "] Currently, we only support dx as a real number, got ",
              dx);
  TENON_CHECK(!dx.is_boolean(), "[", op,
              "] received a bool input for `dx`, but bool is not supported");
}

/// Where dim has no points.
Tensor nothing(const Tensor& y, int64_t dim) {
  DimVector sizes(y.sizes());
  sizes.erase(sizes.begin() + wrap_dim(dim, y.dim()));
  return y.new_zeros(sizes);
}

}  // namespace

/// The integral of the piecewise linear function through the points (x, y) along dim.
Tensor native::trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  if (y.size(dim) == 0) return nothing(y, dim);
  return (steps("trapezoid", y, x, dim) * (before(y, dim) + after(y, dim))).sum(dim) / 2.0;
}

/// Of points dx apart: all heights but half of the first and of the last.
Tensor native::trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  if (y.size(dim) == 0) return nothing(y, dim);
  check_step("trapezoid", y, dx);
  return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx.toDouble();
}

/// The integrals up to each point but the first.
Tensor native::cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  return (steps("cumulative_trapezoid", y, x, dim) * (before(y, dim) + after(y, dim))).cumsum(dim) /
         2.0;
}

Tensor native::cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_step("cumulative_trapezoid", y, dx);
  return ((before(y, dim) + after(y, dim)) * (dx.toDouble() / 2)).cumsum(dim);
}

}  // namespace tenon
