#pragma once

#include <optional>
#include <vector>

#include "runtime/data/datasets/dataset.h"

namespace tenon::serialize {
class InputArchive;
class OutputArchive;
}  // namespace tenon::serialize

namespace tenon::data::datasets {

/// A data set that decides itself what comes next. get_batch() gives a std::optional<Batch>, and
/// nothing at the end of an epoch. A loader needs no sampler for it, calls reset() when an epoch
/// begins, and lets all workers use one object, which must then allow calls from several threads.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  /// Begins an epoch.
  virtual void reset() = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class... Args>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Args...>& dataset) {
  dataset.save(archive);
  return archive;
}

template <class... Args>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Args...>& dataset) {
  dataset.load(archive);
  return archive;
}

}  // namespace tenon::data::datasets
