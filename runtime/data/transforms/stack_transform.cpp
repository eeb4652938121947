#include "runtime/data/transforms/stack_transform.h"

#include "tenon/ops/stack.h"

namespace tenon::data::transforms {

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {stack(data), stack(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  data.reserve(examples.size());
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return stack(data);
}

}  // namespace tenon::data::transforms
