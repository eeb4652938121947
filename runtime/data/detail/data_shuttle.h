#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "runtime/data/detail/queue.h"

namespace tenon::data::detail {

/// Carries jobs from a loader to its workers and results back. A job is in flight from push_job()
/// until its result is popped. The loader's thread alone pushes jobs and pops results, so the count
/// of jobs needs no lock.
template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    new_jobs_.push(std::move(job));
    ++in_flight_jobs_;
  }

  /// Called by a worker.
  void push_result(Result result) { results_.push(std::move(result)); }

  /// Waits for a job. Called by a worker.
  Job pop_job() { return new_jobs_.pop(); }

  /// Waits for a result; nothing if no job is in flight. A job whose result is late stays in
  /// flight.
  std::optional<Result>
  pop_result(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_jobs_ == 0) return std::nullopt;
    std::optional<Result> result = results_.pop(timeout);
    --in_flight_jobs_;
    return result;
  }

  /// Removes the jobs that no worker has begun, waits for the others and drops their results.
  void drain() {
    in_flight_jobs_ -= new_jobs_.clear();
    while (in_flight_jobs_ > 0) pop_result();
  }

  size_t in_flight_jobs() const noexcept { return in_flight_jobs_; }

 private:
  Queue<Job> new_jobs_;
  size_t in_flight_jobs_ = 0;
  Queue<Result> results_;
};

}  // namespace tenon::data::detail
