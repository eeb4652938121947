#include "tenon/native/masked_select.h"
#include "aten/iterator/element_copy.h"
#include "aten/meta/apart.h"
#include "aten/meta/structured.h"
#include "tenon/ops/masked_select.h"

namespace tenon {

Tensor& native::masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  TENON_CHECK(out.scalar_type() == self.scalar_type(),
              "[masked_select] self and result must have the same scalar type, got ",
              self.scalar_type(), " and ", out.scalar_type());
  const TensorBase* inputs[] = {&self, &mask};
  structured::check_apart("masked_select", out, inputs);
  const Tensor result = ops::masked_select::call(self, mask);
  structured::resize_out("masked_select", out, result.sizes(), result.scalar_type());
  native::copy(out, result);
  out.unsafe_impl()->bump_version();
  return out;
}

}  // namespace tenon
