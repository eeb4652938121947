#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/data/example.h"

namespace tenon::data::datasets {

template <class SourceDataset, class AppliedTransform>
class MapDataset;
template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform);

namespace detail {
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
}  // namespace detail

/// A data set that gives batches. `Self` is the class that derives from it:
///     struct Squares : datasets::BatchDataset<Squares, std::vector<int>> { ... };
/// A request is a list of indices, or what else the sampler makes. If `Batch` is a std::optional,
/// the data set is stateful: see StatefulDataset.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = detail::is_optional<BatchType>::value;

  virtual ~BatchDataset() = default;

  virtual Batch get_batch(BatchRequest request) = 0;

  /// Number of examples; nothing if it is not known.
  virtual std::optional<size_t> size() const = 0;

  /// The data set whose batches are this one's after `transform`. It holds a copy of this one.
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  /// The same of a temporary, which is moved.
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

/// A data set that gives single examples by their index. A batch is a list of them, in the order
/// of the request; override get_batch() if all at once is cheaper than one by one.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  /// The example at an index in [0, size()).
  virtual ExampleType get(size_t index) = 0;

  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t index : indices) batch.push_back(get(index));
    return batch;
  }
};

/// A data set that may have no end. A request is the number of examples to take next.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

}  // namespace tenon::data::datasets
