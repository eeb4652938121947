#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "aten/core/error.h"

namespace tenon::data::detail::sequencers {

/// Decides in which order a loader gives the results of its workers.
template <class Result>
struct Sequencer {
  /// Waits for the next result of any worker; nothing at the end of the epoch.
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

/// Gives results as they come.
template <class Result>
struct NoSequencer final : public Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer next_result) override { return next_result(); }
};

/// Gives results by their sequence_number. A result that is early waits in a ring of `max_jobs`
/// places. Places suffice: no job is begun while the loader waits, so at most max_jobs results are
/// on their way.
template <class Result>
struct OrderedSequencer : public Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;

  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}

  std::optional<Result> next(ResultProducer next_result) override {
    while (!buffer(next_sequence_number_)) {
      std::optional<Result> result = next_result();
      if (!result) {
        for (const std::optional<Result>& early : buffer_) TENON_ASSERT(!early);
        return std::nullopt;
      }
      std::optional<Result>& place = buffer(result->sequence_number);
      TENON_ASSERT(!place);
      place = std::move(result);
    }
    return std::exchange(buffer(next_sequence_number_++), std::nullopt);
  }

  std::optional<Result>& buffer(size_t sequence_number) {
    return buffer_.at(sequence_number % buffer_.size());
  }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;
};

}  // namespace tenon::data::detail::sequencers
