#include "tenon/native/poisson.h"

#include "aten/iterator/plan.h"
#include "aten/meta/checks.h"
#include "tenon/native/binomial.h"

namespace tenon {

TensorSpec native::poisson_meta(const Tensor& self, std::optional<Generator>) {
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "[poisson] is not implemented for '",
                              self.scalar_type(), "'");
  return TensorSpec(self.sizes(), self).kept_apart();
}

TensorSpec native::binomial_meta(const Tensor& count, const Tensor& prob,
                                 std::optional<Generator>) {
  TENON_CHECK_VALUE(count.is_floating_point(),
                    "[binomial] binomial only supports floating-point dtypes for count, got: ",
                    count.scalar_type());
  TENON_CHECK_VALUE(prob.is_floating_point(),
                    "[binomial] binomial only supports floating-point dtypes for prob, got: ",
                    prob.scalar_type());
  meta::check_same("binomial", "count", count, "prob", prob);
  const TensorBase* both[] = {&count, &prob};
  return TensorSpec(broadcast_shape(both), count).kept_apart();
}

}  // namespace tenon
