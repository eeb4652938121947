#include "runtime/data/dataset.h"

#include <algorithm>

#include "tenon/ops/index_select.h"
#include "tenon/ops/stack.h"

namespace tenon::data {

Example Dataset::get_batch(IntArrayRef indices) const {
  std::vector<Tensor> data, target;
  for (const int64_t i : indices) {
    Example example = get(i);
    data.push_back(std::move(example.data));
    target.push_back(std::move(example.target));
  }
  return {stack(data), stack(target)};
}

TensorDataset::TensorDataset(Tensor data, Tensor target)
    : data_(std::move(data)), target_(std::move(target)) {
  TENON_CHECK_VALUE(
      data_.dim() > 0 && target_.dim() > 0 && data_.size(0) == target_.size(0),
      "[TensorDataset] data and target must have the same number of rows, got shapes ",
      data_.sizes(), " and ", target_.sizes());
}

Example TensorDataset::get(int64_t index) const {
  return {data_.select(0, index), target_.select(0, index)};
}

Example TensorDataset::get_batch(IntArrayRef indices) const {
  Tensor rows(empty({static_cast<int64_t>(indices.size())}, kLong, kCPU));
  std::copy(indices.begin(), indices.end(), rows.data_ptr<int64_t>());
  return {index_select(data_, 0, rows), index_select(target_, 0, rows)};
}

}  // namespace tenon::data
