#include "runtime/serialization/pickle/storage_view.h"

#include "aten/core/small_vector.h"

namespace tenon::serialization {
namespace {

TensorBase tensor_of(const Storage& storage, ScalarType dtype, int64_t offset, IntArrayRef sizes,
                     IntArrayRef strides) {
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(dtype, storage.device()));
  impl->storage = IntrusivePtr<StorageImpl>::share(storage.get());
  impl->storage_offset = offset;
  impl->set_sizes_and_strides(sizes, strides);
  impl->refresh_data();
  return TensorBase(std::move(impl));
}

}  // namespace

TensorBase view_storage(const Storage& storage, ScalarType dtype) {
  const auto numel = static_cast<int64_t>(storage.nbytes() / element_size(dtype));
  return tensor_of(storage, dtype, 0, {numel}, {1});
}

TensorBase tensor_over(const Storage& storage, ScalarType dtype, int64_t offset, IntArrayRef sizes,
                       IntArrayRef strides) {
  TENON_CHECK_VALUE(sizes.size() == strides.size(), "a tensor has ", sizes.size(), " sizes and ",
                    strides.size(), " strides");
  const auto available = static_cast<int64_t>(storage.nbytes() / element_size(dtype));
  int64_t numel = 1, last = offset;
  bool fits = offset >= 0, is_empty = false;
  for (size_t d = 0; d < sizes.size() && fits; ++d) {
    int64_t reach;
    is_empty |= sizes[d] == 0;
    fits = sizes[d] >= 0 && strides[d] >= 0 && !__builtin_mul_overflow(numel, sizes[d], &numel) &&
           !__builtin_mul_overflow(sizes[d] > 0 ? sizes[d] - 1 : 0, strides[d], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  fits = fits && (is_empty ? offset <= available : last < available);
  TENON_CHECK_VALUE(fits, "a tensor of sizes ", sizes, ", strides ", strides, " and offset ",
                    offset, " does not fit into a storage of ", available, " elements");
  return tensor_of(storage, dtype, offset, sizes, strides);
}

Storage make_storage(uint64_t bytes, Device device) {
  return Storage(IntrusivePtr<StorageImpl>::adopt(allocate_storage(bytes, device)));
}

}  // namespace tenon::serialization
