#include "aten/core/storage.h"

#include <algorithm>
#include <new>
#include <utility>

#include "aten/core/donated_memory.h"

namespace tenon {
namespace {

thread_local DonatedMemory* donated = nullptr;

constexpr size_t kHeaderBytes = 64;
static_assert(sizeof(StorageImpl) <= kHeaderBytes);

void free_inline(void*, void*, size_t) noexcept {}  // goes with the header
void free_cpu(void*, void* data, size_t bytes) noexcept { memory::deallocate(data, bytes); }

}  // namespace

DonatedMemory::DonatedMemory(std::vector<Block> blocks)
    : left_(std::move(blocks)), outer_(std::exchange(donated, this)) {}

DonatedMemory::~DonatedMemory() { donated = outer_; }

void* DonatedMemory::take(size_t bytes) noexcept {
  auto& left = donated->left_;
  const auto found = std::find_if(left.begin(), left.end(),
                                  [&](const Block& block) { return block.bytes == bytes; });
  if (found == left.end()) return nullptr;
  void* const data = found->data;
  left.erase(found);
  return data;
}

StorageImpl* StorageImpl::create_cpu(size_t bytes) {
  if (bytes <= memory::kMaxSmall - kHeaderBytes) {
    const size_t block = kHeaderBytes + bytes;
    char* memory = static_cast<char*>(memory::allocate(block));
    return ::new (memory)
        StorageImpl(memory + kHeaderBytes, bytes, kCPU, free_inline, nullptr, block);
  }
  if (TENON_UNLIKELY(donated != nullptr)) {
    if (void* given = DonatedMemory::take(bytes)) {
      return create(given, bytes, kCPU, free_inline, nullptr);
    }
  }
  void* data = memory::allocate(bytes);
  return ::new (memory::allocate(kHeaderBytes))
      StorageImpl(data, bytes, kCPU, free_cpu, nullptr, kHeaderBytes);
}

StorageImpl* StorageImpl::create(void* data, size_t bytes, Device device, Deleter deleter,
                                 void* context) {
  return ::new (memory::allocate(kHeaderBytes))
      StorageImpl(data, bytes, device, deleter, context, kHeaderBytes);
}

void StorageImpl::destroy(StorageImpl* storage) noexcept {
  storage->deleter_(storage->context_, storage->data_, storage->bytes_);
  memory::deallocate(storage, storage->block_);
}

void StorageImpl::reset_data(void* data, size_t bytes, Deleter deleter, void* context) {
  deleter_(context_, data_, bytes_);
  data_ = data;
  bytes_ = bytes;
  deleter_ = deleter;
  context_ = context;
}

}  // namespace tenon
