#pragma once

#include <cstdint>
#include <type_traits>

#include "aten/core/macros.h"

namespace tenon {

/// Threads that one operator may use; at least 1. It stays 1 on the thread that went on in a child
/// of fork(), if it had used several before: those are the parent's.
TENON_API int get_num_threads();
TENON_API void set_num_threads(int count);
/// Inside a parallel_for: its worker's number, else 0.
TENON_API int get_thread_num();
TENON_API bool in_parallel_region();

namespace detail {
using RangeFunction = void (*)(void* body, int64_t begin, int64_t end);
/// Before a library runs OpenMP regions of its own on this thread.
void expect_openmp_region();
TENON_API void run_parallel(int64_t begin, int64_t end, int64_t grain, RangeFunction f, void* body);
}  // namespace detail

/// Calls f(b, e) for static, contiguous pieces of [begin, end), each of at least `grain` indices,
/// on several threads where that gives more than one piece; otherwise once, on the caller. Nested
/// calls run on their caller. The first exception is rethrown on the caller.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  if (begin >= end) return;
  if (end - begin <= grain) {
    f(begin, end);
    return;
  }
  using Body = std::remove_reference_t<F>;
  detail::run_parallel(
      begin, end, grain,
      [](void* body, int64_t b, int64_t e) { (*static_cast<Body*>(body))(b, e); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace tenon
