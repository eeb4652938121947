#include "tenon/native/angle.h"

#include <numbers>

#include "tenon/ops/imag.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/log.h"
#include "tenon/ops/lt.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/to.h"
#include "tenon/ops/where.h"

namespace tenon {

/// In radians, from -pi to pi: of negative real numbers pi, of others 0. The dtype is the real one;
/// of integers the default one.
Tensor native::angle(const Tensor& self) {
  if (self.is_complex()) return imag(self.log()).contiguous();
  const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
  return where(x.isnan(), x, x.lt(0).to(x.scalar_type()) * std::numbers::pi);
}

}  // namespace tenon
