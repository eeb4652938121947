#include "runtime/data/datasets/tensor_dataset.h"

#include "tenon/ops/select.h"
#include "tenon/ops/stack.h"

namespace tenon::data::datasets {

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(stack(tensors)) {}

TensorExample TensorDataset::get(size_t index) {
  return select(tensor, 0, static_cast<int64_t>(index));
}

}  // namespace tenon::data::datasets
