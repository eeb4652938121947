#include "tenon/native/logsumexp.h"

#include <cmath>

#include "aten/common/dims.h"
#include "tenon/ops/_logsumexp.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/log.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/real.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"

namespace tenon {

/// log(sum(exp(x))) = m + log(sum(exp(x - m))) with m = max(x), of complex numbers max(real(x)), 0
/// where that is infinite; -inf of nothing.
Tensor native::logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  dim_mask("logsumexp", dim, self.dim());
  if (self.numel() == 0) {
    const Tensor x = is_integral(self.scalar_type(), true) ? self.to(get_default_dtype()) : self;
    return log(sum(exp(x), dim, keepdim));
  }
  if (!self.is_complex()) return _logsumexp(self, dim, keepdim);
  const auto shift = [&](bool kept) {
    const Tensor largest = amax(real(self.detach()), dim, kept);
    return masked_fill(largest, eq(abs(largest), Scalar(HUGE_VAL)), Scalar(0));
  };
  return add(log(sum(exp(sub(self, shift(true))), dim, keepdim)), shift(keepdim));
}

}  // namespace tenon
