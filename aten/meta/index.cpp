#include "tenon/native/index.h"

#include "aten/common/index_plan.h"
#include "tenon/native/index_put.h"

namespace tenon {

Tensor native::index_on_meta(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  const IndexPlan plan = plan_index("index", self, indices);
  return Tensor(
      empty_strided(plan.sizes, plan.result_strides(self), self.scalar_type(), self.device()));
}

Tensor& native::index_put_meta_(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                                const Tensor& values, bool) {
  index_put_values(plan_index("index_put_", self, indices), self, values);
  return self;
}

}  // namespace tenon
