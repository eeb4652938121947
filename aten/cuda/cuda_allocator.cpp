#include "aten/cuda/cuda_allocator.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "aten/core/device_interface.h"
#include "aten/core/device_streams.h"
#include "aten/core/tensor_base.h"
#include "aten/cuda/cuda_device.h"
#include "aten/cuda/cuda_error.h"

namespace tenon::cuda {
namespace {

constexpr size_t kSmallest = 512;
constexpr size_t kPage = size_t{2} << 20;

/// Rounds up to the size class: at most an eighth is wasted, and large blocks are whole pages.
size_t class_bytes(size_t bytes) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(bytes - 1)) - 4);
  const size_t unit = std::max(size_t{1} << shift, kSmallest);
  const size_t rounded = (bytes + unit - 1) / unit * unit;
  return rounded < kPage ? rounded : (rounded + kPage - 1) / kPage * kPage;
}

struct Block {
  void* data;
  size_t bytes;
  CUstream_st* stream;              ///< of the thread that allocated it
  std::vector<Stream> other_users;  ///< streams named by record_stream()
};

/// Tells an emulated device (tests/cuda_emulation), in the order of the block's stream, that so
/// many of its bytes are in use from there on; a GPU has no use for it.
void mark_used([[maybe_unused]] const Block& block, [[maybe_unused]] size_t bytes) {
#ifdef TENON_CUDA_EMULATED
  cuda_emulation::mark_used(block.data, bytes, block.bytes, block.stream);
#endif
}

/// A freed block that other streams may still use.
struct Pending {
  Block* block;
  std::vector<Event> marks;
};

class DeviceCache {
 public:
  explicit DeviceCache(DeviceIndex device) : device_(device) {}

  void* allocate(size_t request) {
    const size_t bytes = class_bytes(request);
    const Stream stream = current_stream(device_);
    std::unique_lock lock(mutex_);
    collect(false);
    Block* block = take(stream, bytes);
    if (!block) block = from_driver(stream, bytes, request);
    ++stats_.allocations;
    stats_.allocated_bytes += block->bytes;
    stats_.peak_allocated_bytes = std::max(stats_.peak_allocated_bytes, stats_.allocated_bytes);
    live_.emplace(block->data, block);
    mark_used(*block, request);
    return block->data;
  }

  void free(void* data) noexcept {
    std::lock_guard lock(mutex_);
    const auto found = live_.find(data);
    if (found == live_.end()) return;
    Block* block = found->second;
    live_.erase(found);
    stats_.allocated_bytes -= block->bytes;
    stats_.cached_bytes += block->bytes;
    if (block->other_users.empty()) {
      keep(block);
    } else {
      keep_when_done(block);
    }
  }

  void record(void* data, Stream stream) {
    std::lock_guard lock(mutex_);
    const auto found = live_.find(data);
    if (found == live_.end()) return;  // memory that came from elsewhere is its owner's to keep
    Block* block = found->second;
    if (stream.handle() == block->stream && stream.device_index() == device_) return;
    auto& users = block->other_users;
    if (std::find(users.begin(), users.end(), stream) == users.end()) users.push_back(stream);
  }

  void empty() {
    std::lock_guard lock(mutex_);
    release_all();
  }

  MemoryStats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peak() {
    std::lock_guard lock(mutex_);
    stats_.peak_allocated_bytes = stats_.allocated_bytes;
  }

 private:
  using Free = std::multimap<size_t, Block*>;

  void keep(Block* block) {
    mark_used(*block, 0);
    free_[block->stream].emplace(block->bytes, block);
  }

  void keep_when_done(Block* block) noexcept {
    try {
      Pending pending{block, {}};
      for (const Stream& user : block->other_users) {
        pending.marks.emplace_back();
        pending.marks.back().record(user);
      }
      block->other_users.clear();
      pending_.push_back(std::move(pending));
    } catch (const Error&) {
      // Only events of a context that is gone can fail here; the block's memory went with it.
    }
  }

  Block* take(Stream stream, size_t bytes) {
    const auto of_stream = free_.find(stream.handle());
    if (of_stream == free_.end()) return nullptr;
    const auto found = of_stream->second.lower_bound(bytes);
    if (found == of_stream->second.end() || found->first > 2 * bytes) return nullptr;
    Block* block = found->second;
    of_stream->second.erase(found);
    stats_.cached_bytes -= block->bytes;
    return block;
  }

  Block* from_driver(Stream stream, size_t bytes, size_t request) {
    const CUDAGuard guard(device_);
    void* data = nullptr;
    cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      release_all();
      status = cudaMalloc(&data, bytes);
    }
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      size_t available = 0, total = 0;
      cudaMemGetInfo(&available, &total);
      tenon::detail::raise<Error>("[cuda] out of memory: tried to allocate ", request,
                                  " bytes on cuda:", int{device_}, ", which has ", total,
                                  " bytes, ", available, " of them free and ",
                                  stats_.allocated_bytes, " in use by tensors");
    }
    TENON_CUDA_CHECK(status);
    ++stats_.driver_allocations;
    return new Block{data, bytes, stream.handle(), {}};
  }

  /// Moves blocks whose other users are done to the caches; with `wait`, all of them.
  void collect(bool wait) {
    for (size_t i = pending_.size(); i > 0; --i) {
      Pending pending = std::move(pending_.front());
      pending_.pop_front();
      bool done = true;
      for (const Event& mark : pending.marks) {
        if (wait) mark.synchronize();
        done &= wait || mark.query();
      }
      if (done) {
        keep(pending.block);
      } else {
        pending_.push_back(std::move(pending));
      }
    }
  }

  void release_all() {
    collect(true);
    const CUDAGuard guard(device_);
    for (auto& [stream, blocks] : free_) {
      for (auto& [bytes, block] : blocks) {
        stats_.cached_bytes -= bytes;
        TENON_CUDA_CHECK(cudaFree(block->data));
        delete block;
      }
      blocks.clear();
    }
  }

  const DeviceIndex device_;
  std::mutex mutex_;
  std::unordered_map<void*, Block*> live_;  // handed out, by address
  std::unordered_map<CUstream_st*, Free> free_;
  std::deque<Pending> pending_;
  MemoryStats stats_{};
};

/// One cache per GPU. Never destroyed: tensors may be freed after static clean-up.
std::vector<DeviceCache*>& caches() {
  static auto* all = [] {
    auto* made = new std::vector<DeviceCache*>;
    for (int i = 0; i < device_count(); ++i)
      made->push_back(new DeviceCache(static_cast<DeviceIndex>(i)));
    return made;
  }();
  return *all;
}

DeviceCache& cache_of(DeviceIndex device) {
  return *caches()[static_cast<size_t>(resolve(Device(kCUDA, device)).index())];
}

void free_storage(void* context, void* data, size_t) noexcept {
  if (context) static_cast<DeviceCache*>(context)->free(data);
}

StorageImpl* allocate_storage_cuda(size_t bytes, Device device) {
  const Device where = resolve(device);
  if (bytes == 0) return StorageImpl::create(nullptr, 0, where, free_storage, nullptr);
  DeviceCache& cache = cache_of(where.index());
  return StorageImpl::create(cache.allocate(bytes), bytes, where, free_storage, &cache);
}

constexpr DeviceAllocator kAllocator{&allocate_storage_cuda};
/// The source may be freed at once, and belong to another stream.
void copy_within(void* to, const void* from, size_t bytes, Device device) {
  const Device where = resolve(device);
  const CUDAGuard guard(where);
  const Stream stream = current_stream(where.index());
  cache_of(where.index()).record(const_cast<void*>(from), stream);
  TENON_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

constexpr CurrentDevice kCurrentDevice{&current_device, &set_device, &copy_within};

Stream stream_of(Device device, void* stream) {
  return {device.has_index() ? device.index() : current_device(),
          static_cast<CUstream_st*>(stream)};
}

constexpr DeviceStreams kStreams{
    [](Device device) -> void* { return current_stream(device.index()).handle(); },
    [](Device device, void* stream) { set_current_stream(stream_of(device, stream)); },
    [](Device device, void* stream, Device before_device, void* before) {
      Event event;
      event.record(stream_of(before_device, before));
      event.wait(stream_of(device, stream));
    },
    [](const TensorBase& tensor, void* stream) {
      record_stream(tensor, stream_of(tensor.device(), stream));
    }};

// Loading the library makes CUDA storages available; without a GPU, asking for one is the error.
[[maybe_unused]] const bool registered = [] {
  register_allocator(kCUDA, &kAllocator);
  register_current_device(kCUDA, &kCurrentDevice);
  register_device_streams(kCUDA, &kStreams);
  return true;
}();

}  // namespace

Workspace::Workspace(size_t bytes, DeviceIndex device)
    : device_(device >= 0 ? device : current_device()),
      data_(bytes == 0 ? nullptr : cache_of(device_).allocate(bytes)) {}

Workspace::~Workspace() {
  if (data_) cache_of(device_).free(data_);
}

void record_stream(const TensorBase& tensor, Stream stream) {
  TENON_CHECK(tensor.is_cuda(), "[record_stream] expected a CUDA tensor, got one on ",
              tensor.device());
  void* data = tensor.storage().data();
  if (data) cache_of(tensor.device().index()).record(data, stream);
}

void empty_cache() {
  for (DeviceCache* cache : caches()) cache->empty();
}

MemoryStats memory_stats(DeviceIndex device) { return cache_of(device).stats(); }
void reset_peak_memory_stats(DeviceIndex device) { cache_of(device).reset_peak(); }

}  // namespace tenon::cuda
