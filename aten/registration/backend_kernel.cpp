#include "aten/registration/backend_kernel.h"

#include "aten/iterator/plan.h"

namespace tenon::backend {

TensorSpec Inputs::spec(const Tensor& meta) const {
  return {meta.sizes(), meta.strides(), meta.scalar_type(), native::common_device(list())};
}

}  // namespace tenon::backend
