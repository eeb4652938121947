#include "aten/core/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <mutex>

#include "aten/core/error.h"

namespace tenon::memory {
namespace {

struct FreeBlock {
  FreeBlock* next;
};

// ---- small blocks: one list per 64-byte class and thread, overflow shared through a depot ----

constexpr size_t kClassBytes = 64;
constexpr size_t kSmallClasses = kMaxSmall / kClassBytes;
constexpr uint32_t kMaxKept = 512;
constexpr size_t kSlabBytes = 64 * 1024;

struct SmallLists {
  FreeBlock* head[kSmallClasses];
  uint32_t count[kSmallClasses];
};

struct Depot {
  std::mutex mutex;
  FreeBlock* head[kSmallClasses] = {};
};

Depot& depot() {
  static Depot* instance = new Depot;  // outlives every thread's clean-up
  return *instance;
}

constinit thread_local SmallLists small_lists __attribute__((tls_model("initial-exec"))) = {};

void move_to_depot(size_t cls, uint32_t how_many) {
  FreeBlock* first = small_lists.head[cls];
  if (!first || how_many == 0) return;
  FreeBlock* last = first;
  for (uint32_t i = 1; i < how_many; ++i) last = last->next;
  small_lists.head[cls] = last->next;
  small_lists.count[cls] -= how_many;
  std::lock_guard lock(depot().mutex);
  last->next = depot().head[cls];
  depot().head[cls] = first;
}

/// Hands a finished thread's blocks on.
struct ThreadExit {
  ~ThreadExit() {
    for (size_t cls = 0; cls < kSmallClasses; ++cls) move_to_depot(cls, small_lists.count[cls]);
  }
};

TENON_NOINLINE void* refill(size_t cls) {
  static thread_local ThreadExit at_exit;
  (void)at_exit;
  {
    std::lock_guard lock(depot().mutex);
    for (uint32_t n = 0; n < kMaxKept / 2 && depot().head[cls]; ++n) {
      FreeBlock* block = depot().head[cls];
      depot().head[cls] = block->next;
      block->next = small_lists.head[cls];
      small_lists.head[cls] = block;
      ++small_lists.count[cls];
    }
  }
  if (!small_lists.head[cls]) {
    const size_t bytes = (cls + 1) * kClassBytes;
    char* slab = static_cast<char*>(std::aligned_alloc(kClassBytes, kSlabBytes));
    TENON_CHECK(slab, "out of memory: cannot get ", kSlabBytes, " bytes");
    for (size_t at = 0; at + bytes <= kSlabBytes; at += bytes) {
      auto* block = reinterpret_cast<FreeBlock*>(slab + at);
      block->next = small_lists.head[cls];
      small_lists.head[cls] = block;
      ++small_lists.count[cls];
    }
  }
  FreeBlock* block = small_lists.head[cls];
  small_lists.head[cls] = block->next;
  --small_lists.count[cls];
  return block;
}

// ---- large blocks: eight classes per power of two, one list each under one lock ----

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLargeClasses = 8 * 40;

/// Rounds up to the class size: at most 1/8 is wasted.
size_t large_bytes(size_t bytes) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(bytes - 1)) - 4);
  const size_t unit = std::max<size_t>(size_t{1} << shift, kClassBytes);
  size_t rounded = (bytes + unit - 1) / unit * unit;
  if (rounded >= kHugePage) rounded = (rounded + kHugePage - 1) / kHugePage * kHugePage;
  return rounded;
}

struct LargeCache {
  std::mutex mutex;
  // Blocks of one class may differ in size by the rounding to huge pages, so the size is kept
  // inside.
  struct Block {
    Block* next;
    size_t bytes;
  };
  Block* head[kLargeClasses] = {};
  size_t live = 0;
  size_t cached = 0;
  size_t limit = 0;

  LargeCache() {
    const size_t physical =
        static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
    limit = physical / 4;
  }

  static size_t class_of(size_t bytes) {
    const int top = std::bit_width(bytes) - 1;
    return static_cast<size_t>(top - 6) * 8 + ((bytes >> (top - 3)) & 7);
  }

  void drain() {
    for (auto*& list : head) {
      while (list) {
        Block* block = list;
        list = block->next;
        release_to_system(block, block->bytes);
      }
    }
    cached = 0;
  }

  static void release_to_system(void* block, size_t bytes) {
    if (bytes >= kHugePage) {
      munmap(block, bytes);
    } else {
      std::free(block);
    }
  }
};

LargeCache& cache() {
  static LargeCache* instance = new LargeCache;  // tensors may be freed after static clean-up
  return *instance;
}

void* map_huge(size_t bytes) {
  // Mapping one page more than needed leaves room to start on a huge-page boundary.
  char* raw = static_cast<char*>(mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (raw == MAP_FAILED) return nullptr;
  const size_t lead = (kHugePage - reinterpret_cast<uintptr_t>(raw) % kHugePage) % kHugePage;
  if (lead) munmap(raw, lead);
  munmap(raw + lead + bytes, kHugePage - lead);
  madvise(raw + lead, bytes, MADV_HUGEPAGE);
  return raw + lead;
}

void* from_system(size_t bytes) {
  return bytes >= kHugePage ? map_huge(bytes) : std::aligned_alloc(kClassBytes, bytes);
}

void* allocate_large(size_t request) {
  TENON_CHECK(request <= (size_t{1} << 44), "out of memory: a tensor of ", request,
              " bytes is larger than any machine's memory");
  const size_t bytes = large_bytes(request);
  LargeCache& c = cache();
  std::unique_lock lock(c.mutex);
  const size_t cls = LargeCache::class_of(bytes);
  if (auto* block = c.head[cls]; block && block->bytes >= bytes) {
    c.head[cls] = block->next;
    c.cached -= block->bytes;
    c.live += bytes;
    return block;
  }
  lock.unlock();
  void* block = from_system(bytes);
  lock.lock();
  if (!block) {
    c.drain();
    block = from_system(bytes);
  }
  TENON_CHECK(block, "out of memory: cannot get ", bytes, " bytes");
  c.live += bytes;
  return block;
}

void deallocate_large(void* memory, size_t request) noexcept {
  const size_t bytes = large_bytes(request);
  LargeCache& c = cache();
  std::lock_guard lock(c.mutex);
  c.live -= bytes;
  if (c.cached + bytes > c.limit) {
    LargeCache::release_to_system(memory, bytes);
    return;
  }
  auto* block = static_cast<LargeCache::Block*>(memory);
  block->bytes = bytes;
  block->next = c.head[LargeCache::class_of(bytes)];
  c.head[LargeCache::class_of(bytes)] = block;
  c.cached += bytes;
}

}  // namespace

void* allocate(size_t bytes) {
  if (TENON_UNLIKELY(bytes > kMaxSmall)) return allocate_large(bytes);
  const size_t cls = bytes == 0 ? 0 : (bytes - 1) / kClassBytes;
  FreeBlock* block = small_lists.head[cls];
  if (TENON_UNLIKELY(!block)) return refill(cls);
  small_lists.head[cls] = block->next;
  --small_lists.count[cls];
  return block;
}

void deallocate(void* memory, size_t bytes) noexcept {
  if (!memory) return;
  if (TENON_UNLIKELY(bytes > kMaxSmall)) return deallocate_large(memory, bytes);
  const size_t cls = bytes == 0 ? 0 : (bytes - 1) / kClassBytes;
  auto* block = static_cast<FreeBlock*>(memory);
  block->next = small_lists.head[cls];
  small_lists.head[cls] = block;
  if (TENON_UNLIKELY(++small_lists.count[cls] > kMaxKept + kSlabBytes / kClassBytes)) {
    move_to_depot(cls, kMaxKept / 2);
  }
}

Stats stats() {
  std::lock_guard lock(cache().mutex);
  return {cache().live, cache().cached};
}

void empty_cache() {
  std::lock_guard lock(cache().mutex);
  cache().drain();
}

}  // namespace tenon::memory
