#include "tenon/native/exponential.h"

#include "aten/iterator/element_copy.h"
#include "aten/iterator/plan.h"
#include "tenon/ops/log1p.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/uniform.h"

namespace tenon {

/// -log(1 - u) / lambd of uniform numbers u in [0, 1), which are drawn and computed in double
/// whatever self's dtype, in the order in which self's elements lie.
Tensor& native::exponential_(Tensor& self, double lambd, std::optional<Generator> generator) {
  TENON_CHECK(self.is_floating_point(),
              "[exponential_] Exponential distribution is a continuous probability distribution. "
              "dtype must be a floating point but you specified ",
              self.scalar_type());
  TENON_CHECK(lambd > 0,
              "[exponential_] exponential_ expects lambda > 0.0, but found lambda=", lambd);
  check_no_internal_overlap(self);
  if (self.is_meta()) return self;
  Tensor drawn(tenon::empty_strided(self.sizes(), output_strides(self.sizes(), {&self}), kDouble,
                                    self.device()));
  drawn.uniform_(0, 1, generator);
  copy(self, tenon::log1p(drawn.mul_(-1)).mul_(-1 / lambd));
  return self;
}

}  // namespace tenon
