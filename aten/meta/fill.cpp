// In-place operators on tensors without data: nothing is left to do.
#include "tenon/native/fill.h"

#include "aten/meta/checks.h"
#include "tenon/native/bernoulli.h"
#include "tenon/native/copy.h"
#include "tenon/native/normal.h"
#include "tenon/native/random.h"
#include "tenon/native/uniform.h"
#include "tenon/native/zero.h"

namespace tenon {

Tensor& native::fill_scalar_meta_(Tensor& self, const Scalar&) { return self; }
Tensor& native::fill_tensor_meta_(Tensor& self, const Tensor& value) {
  TENON_CHECK(value.dim() == 0,
              "[fill_] fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return self;
}
Tensor& native::zero_meta_(Tensor& self) { return self; }
Tensor& native::copy_meta_(Tensor& self, const Tensor&, bool) {
  TENON_CHECK_NOT_IMPLEMENTED(
      self.is_meta(),
      "[copy_] cannot copy out of a meta tensor, which has no data; got a target on ",
      self.device());
  return self;
}
Tensor& native::uniform_meta_(Tensor& self, double, double, std::optional<Generator>) {
  return self;
}
Tensor& native::normal_meta_(Tensor& self, double, double, std::optional<Generator>) {
  return self;
}
Tensor& native::random_meta_(Tensor& self, std::optional<Generator>) { return self; }
Tensor& native::random_to_meta_(Tensor& self, int64_t, std::optional<Generator>) { return self; }
Tensor& native::random_from_meta_(Tensor& self, int64_t, std::optional<int64_t>,
                                  std::optional<Generator>) {
  return self;
}
Tensor& native::bernoulli_float_meta_(Tensor& self, double, std::optional<Generator>) {
  return self;
}
Tensor& native::bernoulli_tensor_meta_(Tensor& self, const Tensor& p, std::optional<Generator>) {
  meta::check_same_device("bernoulli_", "self", self, "p", p);
  return self;
}

}  // namespace tenon
