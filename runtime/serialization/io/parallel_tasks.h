#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "aten/core/parallel.h"

namespace tenon::serialization {

/// Calls f(i) for each i of [0, count), on several threads, each of which takes the next one when
/// it is free: tasks of files differ in time far more than those of operators. The first exception
/// is rethrown; tasks not yet begun are then left out.
template <class F>
void parallel_tasks(size_t count, F&& f) {
  std::atomic<size_t> next{0};
  const auto workers =
      static_cast<int64_t>(std::min(count, static_cast<size_t>(get_num_threads())));
  parallel_for(0, workers, 1, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      for (size_t i; (i = next.fetch_add(1)) < count;) {
        try {
          f(i);
        } catch (...) {
          next = count;
          throw;
        }
      }
    }
  });
}

}  // namespace tenon::serialization
