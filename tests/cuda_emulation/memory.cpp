// Device memory: one arena for each device, closed while no work of a device runs, poisoned but for
// what is in use.
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cstring>
#include <map>

#include "tests/cuda_emulation/emulator.h"

namespace cuda_emulation {
namespace {

constexpr size_t kGranule = 512, kGap = 512;

struct Block {
  size_t capacity;
  size_t used;        ///< what may be accessed
  bool fresh = true;  ///< no stream has used it
};

struct Arena {
  char* base = nullptr;
  std::map<size_t, Block> blocks;  // by offset
  size_t next = 0, in_use = 0;

  Arena() {
    void* at =
        mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) std::abort();
    base = static_cast<char*>(at);
    __asan_poison_memory_region(base, kArenaBytes);
  }

  /// First place from the last one on, so that freed memory rests before it is given out again.
  size_t place_for(size_t bytes) {
    for (int turn = 0; turn < 2; ++turn) {
      size_t at = turn == 0 ? next : 0;
      auto after = blocks.lower_bound(at);
      if (after != blocks.begin()) {
        const auto& [start, before] = *std::prev(after);
        at = std::max(at, round_up(start + before.capacity) + kGap);
      }
      for (; after != blocks.end() && after->first < at + bytes + kGap; ++after)
        at = round_up(after->first + after->second.capacity) + kGap;
      if (at + bytes <= kArenaBytes) return at;
    }
    return kArenaBytes;
  }
  static size_t round_up(size_t n) { return (n + kGranule - 1) / kGranule * kGranule; }
};

Arena* arenas() {
  static auto* all = new Arena[kDevices];
  return all;
}

std::map<const char*, size_t>& pinned() {
  static auto* all = new std::map<const char*, size_t>;
  return *all;
}

int open_scopes = 0;

void set_protection(int protection) {
  for (int d = 0; d < kDevices; ++d) mprotect(arenas()[d].base, kArenaBytes, protection);
}

/// What a block holds before anything is written: NaN, -1, and no bool.
void fill_with_rubbish(char* data, size_t bytes) {
  const Unprotected scope;
  __asan_unpoison_memory_region(data, bytes);
  std::memset(data, 0xff, bytes);
}

std::pair<const size_t, Block>* block_at(int device, const void* data) {
  Arena& a = arenas()[device];
  const auto offset = static_cast<size_t>(static_cast<const char*>(data) - a.base);
  auto after = a.blocks.upper_bound(offset);
  if (after == a.blocks.begin()) return nullptr;
  --after;
  return offset < after->first + after->second.capacity ? &*after : nullptr;
}

}  // namespace

Unprotected::Unprotected() {
  mutex().lock();
  if (open_scopes++ == 0) set_protection(PROT_READ | PROT_WRITE);
}
Unprotected::~Unprotected() {
  if (--open_scopes == 0) set_protection(PROT_NONE);
  mutex().unlock();
}

int device_of(const void* address) {
  for (int d = 0; d < kDevices; ++d) {
    const char* base = arenas()[d].base;
    if (address >= base && address < base + kArenaBytes) return d;
  }
  return -1;
}

char* arena_of(int device) { return arenas()[device].base; }

void check_device_range(int device, const void* data, size_t bytes, const char* what) {
  if (bytes == 0) return;
  if (device_of(data) != device) {
    fail(std::string(what) +
         (device_of(data) < 0 ? ": not memory of the device" : ": memory of another device"));
  }
  if (const auto* bad = __asan_region_is_poisoned(const_cast<void*>(data), bytes)) {
    fail(std::string(what) + ": byte " +
         std::to_string(static_cast<const char*>(bad) - static_cast<const char*>(data)) + " of " +
         std::to_string(bytes) + " is outside the memory in use: out of bounds or freed");
  }
}

size_t bytes_in_use(int device) { return arenas()[device].in_use; }

Snapshot save(int device) {
  Snapshot result;
  Arena& a = arenas()[device];
  for (const auto& [offset, block] : a.blocks) {
    if (block.used > 0)
      result.pieces.push_back({a.base + offset, std::string(a.base + offset, block.used)});
  }
  return result;
}

void restore(const Snapshot& snapshot) {
  for (const auto& piece : snapshot.pieces)
    std::memcpy(piece.data, piece.bytes.data(), piece.bytes.size());
}

const char* first_difference(const Snapshot& snapshot) {
  for (const auto& piece : snapshot.pieces) {
    if (std::memcmp(piece.data, piece.bytes.data(), piece.bytes.size()) == 0) continue;
    size_t at = 0;
    while (piece.data[at] == piece.bytes[at]) ++at;
    return piece.data + at;
  }
  return nullptr;
}

bool is_pinned(const void* data) {
  const auto* address = static_cast<const char*>(data);
  auto after = pinned().upper_bound(address);
  return after != pinned().begin() && address < std::prev(after)->first + std::prev(after)->second;
}

void mark_used(void* data, size_t used, size_t capacity, cudaStream_t stream) {
  const int device = device_of(data);
  const auto mark = [=] {
    auto* found = block_at(device, data);
    if (!found) return;  // given back to the driver meanwhile, which waited for all streams
    Arena& a = arenas()[device];
    a.in_use += used - found->second.used;
    found->second.used = used;
    __asan_poison_memory_region(data, capacity);
    fill_with_rubbish(static_cast<char*>(data), used);
  };
  const std::lock_guard lock(mutex());
  auto* block = block_at(device, data);
  if (block && std::exchange(block->second.fresh, false)) return mark();
  submit(stream ? stream : default_stream(device), mark);
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

extern "C" {

cudaError_t cudaMalloc(void** data, size_t bytes) {
  const std::lock_guard lock(mutex());
  Arena& a = arenas()[current_device()];
  const size_t at = bytes <= kArenaBytes ? a.place_for(bytes) : kArenaBytes;
  if (at + bytes > kArenaBytes) return cudaErrorMemoryAllocation;
  a.blocks.emplace(at, Block{bytes, bytes});
  a.in_use += bytes;
  a.next = at + bytes;
  *data = a.base + at;
  fill_with_rubbish(a.base + at, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  if (!data) return cudaSuccess;
  const std::lock_guard lock(mutex());
  const int device = device_of(data);
  if (device < 0) return cudaErrorInvalidValue;
  finish_device(device);
  Arena& a = arenas()[device];
  const auto found = a.blocks.find(static_cast<size_t>(static_cast<char*>(data) - a.base));
  if (found == a.blocks.end()) fail("cudaFree of what is not allocated");
  a.in_use -= found->second.used;
  __asan_poison_memory_region(data, found->second.capacity);
  a.blocks.erase(found);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  const std::lock_guard lock(mutex());
  size_t taken = 0;
  for (const auto& [offset, block] : arenas()[current_device()].blocks) taken += block.capacity;
  *total = kArenaBytes;
  *available = kArenaBytes - taken;
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  const std::lock_guard lock(mutex());
  *data = std::malloc(bytes);
  if (!*data) return cudaErrorMemoryAllocation;
  pinned().emplace(static_cast<char*>(*data), bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* data) {
  const std::lock_guard lock(mutex());
  for (int d = 0; d < kDevices; ++d) finish_device(d);
  pinned().erase(static_cast<char*>(data));
  std::free(data);
  return cudaSuccess;
}

}  // extern "C"
