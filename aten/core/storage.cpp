#include "aten/core/storage.h"

#include <new>

namespace tenon {
namespace {

constexpr size_t kHeaderBytes = 64;
static_assert(sizeof(StorageImpl) <= kHeaderBytes);

void free_inline(void*, void*, size_t) noexcept {}  // goes with the header
void free_cpu(void*, void* data, size_t bytes) noexcept { memory::deallocate(data, bytes); }

}  // namespace

StorageImpl* StorageImpl::create_cpu(size_t bytes) {
  if (bytes <= memory::kMaxSmall - kHeaderBytes) {
    const size_t block = kHeaderBytes + bytes;
    char* memory = static_cast<char*>(memory::allocate(block));
    return ::new (memory)
        StorageImpl(memory + kHeaderBytes, bytes, kCPU, free_inline, nullptr, block);
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
