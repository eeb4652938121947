#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/core/macros.h"

namespace tenon::memory {

/// Largest request served from the thread's own free lists.
inline constexpr size_t kMaxSmall = 1024;

/// 64-byte aligned memory of at least `bytes`; throws Error "out of memory" when the system has
/// none. Up to kMaxSmall it comes from lists of the calling thread, without a lock; above, from a
/// cache of blocks shared by all threads, those of 2 MiB and more in huge pages where the system
/// has them.
TENON_API void* allocate(size_t bytes);
/// Gives back what allocate(bytes) returned, with the same `bytes`; from any thread.
TENON_API void deallocate(void* block, size_t bytes) noexcept;

struct Stats {
  size_t live_bytes;    ///< large blocks handed out
  size_t cached_bytes;  ///< large blocks kept for reuse
};
TENON_API Stats stats();
/// Returns all cached large blocks to the system.
TENON_API void empty_cache();

}  // namespace tenon::memory
