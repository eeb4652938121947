#include "runtime/data/transforms/tensor_transform.h"

#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/div.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/view.h"

namespace tenon::data::transforms::detail {

Tensor per_channel(ArrayRef<double> values) {
  return view(tensor(values, TensorOptions(kFloat)), {static_cast<int64_t>(values.size()), 1, 1});
}

Tensor normalized(const Tensor& input, const Tensor& mean, const Tensor& stddev) {
  return div(sub(input, mean), stddev);
}

}  // namespace tenon::data::transforms::detail
