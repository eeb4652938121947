#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "aten/core/macros.h"

namespace tenon::serialize {
class InputArchive;
class OutputArchive;
}  // namespace tenon::serialize

namespace tenon::data::samplers {

/// Makes the requests of an epoch: by default lists of indices of examples.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;

  /// Begins an epoch, over `new_size` examples from then on if given.
  virtual void reset(std::optional<size_t> new_size) = 0;

  /// A request of up to `batch_size` examples; nothing at the end of the epoch.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;

  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}

template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

/// Base of requests that are no list of indices.
struct TENON_API CustomBatchRequest {
  virtual ~CustomBatchRequest() = default;
  /// Number of examples that are requested.
  virtual size_t size() const = 0;
};

}  // namespace tenon::data::samplers
