#include "aten/registration/backend_kernel.h"

#include "aten/iterator/plan.h"

namespace tenon::backend {

TensorSpec Inputs::spec(const Tensor& meta) const {
  // The results alone do not say what else an `out` may be.
  return TensorSpec(meta.sizes(), meta.strides(), meta.scalar_type(), native::common_device(list()))
      .casting();
}

}  // namespace tenon::backend
