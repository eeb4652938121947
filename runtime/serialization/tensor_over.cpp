#include "aten/core/small_vector.h"
#include "runtime/serialization/pickle_reader.h"

namespace tenon::serialization {

TensorBase tensor_over(const TensorBase& storage, int64_t offset, IntArrayRef sizes,
                       IntArrayRef strides) {
  TENON_CHECK_VALUE(sizes.size() == strides.size(), "a tensor has ", sizes.size(), " sizes and ",
                    strides.size(), " strides");
  int64_t numel = 1, last = offset;
  bool fits = offset >= 0;
  for (size_t d = 0; d < sizes.size() && fits; ++d) {
    int64_t reach;
    fits = sizes[d] >= 0 && strides[d] >= 0 && !__builtin_mul_overflow(numel, sizes[d], &numel) &&
           !__builtin_mul_overflow(sizes[d] > 0 ? sizes[d] - 1 : 0, strides[d], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  fits = fits && (numel == 0 ? offset <= storage.numel() : last < storage.numel());
  TENON_CHECK_VALUE(fits, "a tensor of sizes ", sizes, ", strides ", strides, " and offset ",
                    offset, " does not fit into a storage of ", storage.numel(), " elements");
  auto impl =
      IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(storage.dtype(), storage.device()));
  impl->storage = storage.unsafe_impl()->storage;
  impl->storage_offset = offset;
  impl->set_sizes_and_strides(sizes, strides);
  impl->refresh_data();
  return TensorBase(std::move(impl));
}

}  // namespace tenon::serialization
