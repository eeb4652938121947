#include "runtime/serialization/storage_bytes.h"

#include <algorithm>
#include <utility>

namespace tenon::serialization {

void swap_bytes(void* data, uint64_t bytes, ScalarType dtype) {
  const size_t size = element_size(to_real(dtype));
  if (size < 2) return;
  auto* at = static_cast<char*>(data);
  for (uint64_t i = 0; i + size <= bytes; i += size) std::reverse(at + i, at + i + size);
}

Storage storage_part(std::shared_ptr<const void> owner, void* data, uint64_t bytes, Device device) {
  using Owner = std::shared_ptr<const void>;
  const auto release = [](void* context, void*, size_t) noexcept {
    delete static_cast<Owner*>(context);
  };
  auto context = std::make_unique<Owner>(std::move(owner));
  Storage made(IntrusivePtr<StorageImpl>::adopt(
      StorageImpl::create(data, bytes, device, release, context.get())));
  context.release();
  return made;
}

}  // namespace tenon::serialization
