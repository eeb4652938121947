// What kernels call of the library, for one generated source that is not linked with it.
// TENON_PARALLEL(begin, end, grain, f) calls f(b, e) for pieces on threads, TENON_NUM_THREADS() is
// their number; without these macros the caller computes all.
#pragma once

#include <cstdlib>
#include <new>
#include <utility>

#include "aten/core/allocator.h"
#include "aten/core/parallel.h"
#include "aten/cpu/vec/scalar_math-inl.h"
#include "aten/iterator/zero_division.h"

namespace tenon {

void* memory::allocate(size_t bytes) {
  void* const block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!block) std::abort();
  return block;
}
void memory::deallocate(void* block, size_t) noexcept { std::free(block); }

static thread_local bool divided_by_zero = false;
void native::note_zero_division() { divided_by_zero = true; }
bool native::take_zero_division() { return std::exchange(divided_by_zero, false); }

void detail::run_parallel(int64_t begin, int64_t end, [[maybe_unused]] int64_t grain,
                          RangeFunction f, void* body) {
#ifdef TENON_PARALLEL
  TENON_PARALLEL(begin, end, grain, [=](int64_t b, int64_t e) { f(body, b, e); });
#else
  f(body, begin, end);
#endif
}

}  // namespace tenon
