#include "aten/cuda/pinned.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "aten/cuda/cuda_error.h"

namespace tenon::cuda {
namespace {

constexpr size_t kSmallest = 4096;

struct PinnedBlock {
  size_t bytes;
  /// Marks after which the memory may be reused: one in each stream, the last.
  std::vector<std::pair<Stream, Event>> users;
};

struct PinnedCache {
  std::mutex mutex;
  std::map<char*, PinnedBlock> live;
  std::multimap<size_t, std::pair<char*, PinnedBlock>> free;

  static bool is_idle(const PinnedBlock& block) {
    return std::all_of(block.users.begin(), block.users.end(),
                       [](const auto& user) { return user.second.query(); });
  }

  char* take(size_t bytes) {
    for (auto at = free.lower_bound(bytes); at != free.end() && at->first == bytes; ++at) {
      if (!is_idle(at->second.second)) continue;
      char* data = at->second.first;
      at->second.second.users.clear();
      live.emplace(data, std::move(at->second.second));
      free.erase(at);
      return data;
    }
    return nullptr;
  }

  /// The block that holds an address, which may lie inside it.
  PinnedBlock* find(const void* address) {
    auto after = live.upper_bound(static_cast<char*>(const_cast<void*>(address)));
    if (after == live.begin()) return nullptr;
    --after;
    return static_cast<const char*>(address) < after->first + after->second.bytes ? &after->second
                                                                                  : nullptr;
  }
};

PinnedCache& cache() {
  static auto* instance = new PinnedCache;  // tensors may be freed after static clean-up
  return *instance;
}

char* allocate_pinned(size_t request) {
  const size_t bytes = std::bit_ceil(request < kSmallest ? kSmallest : request);
  PinnedCache& c = cache();
  std::lock_guard lock(c.mutex);
  if (char* cached = c.take(bytes)) return cached;
  void* data = nullptr;
  TENON_CUDA_CHECK(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
  c.live.emplace(static_cast<char*>(data), PinnedBlock{bytes, {}});
  return static_cast<char*>(data);
}

void free_pinned(void*, void* data, size_t) noexcept {
  if (!data) return;
  PinnedCache& c = cache();
  std::lock_guard lock(c.mutex);
  const auto found = c.live.find(static_cast<char*>(data));
  const size_t bytes = found->second.bytes;
  c.free.emplace(bytes, std::pair(found->first, std::move(found->second)));
  c.live.erase(found);
}

}  // namespace

TensorBase empty_pinned(IntArrayRef sizes, ScalarType dtype) {
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(dtype, kCPU));
  const size_t bytes = static_cast<size_t>(numel_of(sizes)) * element_size(dtype);
  char* data = bytes == 0 ? nullptr : allocate_pinned(bytes);
  impl->storage = IntrusivePtr<StorageImpl>::adopt(
      StorageImpl::create(data, bytes, kCPU, free_pinned, nullptr));
  impl->data = data;
  impl->set_sizes_contiguous(sizes);
  return TensorBase(std::move(impl));
}

bool is_pinned(const TensorBase& tensor) {
  if (!tensor.is_cpu() || tensor.numel() == 0) return false;
  std::lock_guard lock(cache().mutex);
  return cache().find(tensor.const_data_ptr()) != nullptr;
}

void record_pinned(const TensorBase& tensor, Stream stream) {
  std::lock_guard lock(cache().mutex);
  PinnedBlock* block = cache().find(tensor.const_data_ptr());
  if (!block) return;
  auto user = std::find_if(block->users.begin(), block->users.end(),
                           [&](const auto& u) { return u.first == stream; });
  if (user == block->users.end()) user = block->users.emplace(user, stream, Event());
  user->second.record(stream);
}

void empty_pinned_cache() {
  PinnedCache& c = cache();
  std::lock_guard lock(c.mutex);
  for (auto& [bytes, entry] : c.free) {
    for (const auto& [stream, mark] : entry.second.users) mark.synchronize();
    TENON_CUDA_CHECK(cudaFreeHost(entry.first));
  }
  c.free.clear();
}

}  // namespace tenon::cuda
