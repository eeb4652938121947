#include "aten/core/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "aten/core/error.h"

namespace tenon {
namespace {

std::atomic<int> requested_threads{0};

// OpenMP keeps the threads of a thread's last region for its next. After fork() the child has that
// record and not the threads, and would wait for them for ever.
enum class Team : uint8_t { kNone, kKept, kLostInFork };
thread_local Team team = Team::kNone;

void after_fork_in_child() {
  if (team != Team::kKept) return;
  team = Team::kLostInFork;
  omp_set_num_threads(1);
}

[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, after_fork_in_child);

}  // namespace

int get_num_threads() {
  if (TENON_UNLIKELY(team == Team::kLostInFork)) return 1;
  const int count = requested_threads.load(std::memory_order_relaxed);
  return count > 0 ? count : omp_get_max_threads();
}

void set_num_threads(int count) {
  TENON_CHECK_VALUE(count >= 1, "[set_num_threads] needs at least 1 thread, got ", count);
  requested_threads = count;
  if (team != Team::kLostInFork) omp_set_num_threads(count);
}

int get_thread_num() { return omp_get_thread_num(); }
bool in_parallel_region() { return omp_in_parallel(); }

void detail::expect_openmp_region() {
  if (team == Team::kNone) team = Team::kKept;
}

void detail::run_parallel(int64_t begin, int64_t end, int64_t grain, RangeFunction f, void* body) {
  const int64_t count = end - begin;
  const int64_t pieces = std::min<int64_t>(get_num_threads(), count / std::max<int64_t>(grain, 1));
  if (pieces <= 1 || omp_in_parallel()) {
    f(body, begin, end);
    return;
  }
  expect_openmp_region();
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(static_cast <int>(pieces))
  {
    const int64_t id = omp_get_thread_num();
    const int64_t workers = omp_get_num_threads();
    const int64_t b = begin + count * id / workers;
    const int64_t e = begin + count * (id + 1) / workers;
    try {
      if (b < e) f(body, b, e);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tenon
