#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "runtime/nn/arg.h"

namespace tenon::data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

  TENON_ARG(size_t, batch_size) = 1;
  /// Threads that load batches ahead. With 0 each batch is loaded when it is asked for.
  TENON_ARG(size_t, workers) = 0;
  /// Batches that are loaded ahead at most; by default two per worker.
  TENON_ARG(std::optional<size_t>, max_jobs);
  /// How long to wait for the batch of a worker before an Error.
  TENON_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Whether batches come in the order of the sampler, and not as workers finish.
  TENON_ARG(bool, enforce_ordering) = true;
  /// Whether to leave out a last batch that is smaller.
  TENON_ARG(bool, drop_last) = false;
};

/// The options with all defaults filled in.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options)
      : batch_size(options.batch_size()), workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * workers)), timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()), drop_last(options.drop_last()) {}

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
};

}  // namespace tenon::data
