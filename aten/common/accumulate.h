#pragma once

#include "aten/iterator/element_copy.h"
#include "tenon/ops/to.h"

namespace tenon::native {

/// Calls reduce(in, out) for a sum or product of `self` into `out`: `in` has the dtype that is
/// accumulated, and integers of any kind come out as int64, from where they wrap into narrower
/// ones.
template <class F>
void accumulate(const Tensor& self, const Tensor& out, F&& reduce) {
  const ScalarType to = out.scalar_type();
  const bool direct =
      self.scalar_type() == to || (to == kLong && is_integral(self.scalar_type(), true));
  const Tensor in = direct ? self : self.to(to);
  if (to == kLong || !is_integral(to, true)) return reduce(in, out);
  const Tensor wide(tenon::empty(out.sizes(), kLong, out.device()));
  reduce(in, wide);
  native::copy(out, wide);
}

}  // namespace tenon::native
