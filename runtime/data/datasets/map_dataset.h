#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/data/datasets/dataset.h"

namespace tenon::data::datasets {

namespace detail {
template <bool C, class T>
using optional_if_t = std::conditional_t<C, std::optional<T>, T>;

/// The type of a data set's batches, without the std::optional of a stateful one.
template <class T>
struct unwrapped {
  using type = T;
};
template <class T>
struct unwrapped<std::optional<T>> {
  using type = T;
};
}  // namespace detail

/// The batches of a data set after a transform. It is stateful if the data set is: a transform is
/// not applied to the end of an epoch, which stays nothing.
template <class SourceDataset, class AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                          detail::optional_if_t<SourceDataset::is_stateful,
                                                typename AppliedTransform::OutputBatchType>,
                          typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType =
      detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (SourceDataset::is_stateful) {
      auto batch = dataset_.get_batch(std::move(request));
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(request)));
    }
  }

  std::optional<size_t> size() const noexcept override { return dataset_.size(); }

  /// Resets the data set, which must be stateful.
  void reset() { dataset_.reset(); }

  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

/// The data set whose batches are those of `dataset` after `transform`.
template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  static_assert(std::is_same_v<typename detail::unwrapped<typename DatasetType::BatchType>::type,
                               typename TransformType::InputBatchType>,
                "the transform must take the type of batch that the data set gives");
  return {std::move(dataset), std::move(transform)};
}

}  // namespace tenon::data::datasets
