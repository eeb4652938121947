#include "aten/core/tensor_base.h"

#include <algorithm>
#include <array>
#include <bit>

#include "aten/core/device_interface.h"
#include "aten/core/sparse/sparse_value.h"
#include "aten/core/thread_state.h"

namespace tenon {
namespace {

std::array<const DeviceAllocator*, kNumBackends> allocators{};

/// Elements from the first to the last one that the geometry reaches, plus one; 0 if it has none.
int64_t storage_extent(IntArrayRef sizes, IntArrayRef strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t reach = 0;
    TENON_CHECK(!__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) &&
                    !__builtin_add_overflow(last, reach, &last),
                "sizes ", sizes, " with strides ", strides, " exceed the address range");
  }
  return last + 1;
}

size_t bytes_for(int64_t elements, ScalarType dtype) {
  size_t bytes = 0;
  TENON_CHECK(!__builtin_mul_overflow(static_cast<size_t>(elements), element_size(dtype), &bytes),
              "Storage size calculation overflowed: a tensor of ", elements, " elements of ", dtype,
              " exceeds the address range");
  return bytes;
}

bool is_channels_last(IntArrayRef sizes, IntArrayRef strides, size_t dims) {
  if (sizes.size() != dims) return false;
  // Channels vary fastest, then the last spatial dimension up to the first, then the batch.
  int64_t expected = 1;
  const auto check = [&](size_t d) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
    return true;
  };
  if (!check(1)) return false;
  for (size_t d = dims - 1; d >= 2; --d) {
    if (!check(d)) return false;
  }
  return check(0);
}

/// Whether strides suggest channels last, by PyTorch's rule: ambiguous geometries count only when
/// they are not also row-major.
bool suggests_channels_last(IntArrayRef sizes, IntArrayRef strides, size_t dims) {
  if (sizes.size() != dims || strides[1] == 0) return false;
  int64_t smallest = 0;
  const auto check = [&](size_t d) {
    if (sizes[d] == 0 || strides[d] < smallest) return false;
    if (d == 0 && smallest == strides[1]) return false;
    smallest = strides[d];
    if (sizes[d] > 1) smallest *= sizes[d];
    return true;
  };
  if (!check(1)) return false;
  for (size_t d = dims - 1; d >= 2; --d) {
    if (!check(d)) return false;
  }
  return check(0);
}

}  // namespace

bool TensorBase::is_non_overlapping_and_dense() const {
  const TensorImpl& t = get();
  if (t.contiguous) return true;
  SmallVector<size_t, 5> order;
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    if (t.sizes[i] != 1) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return t.strides[a] < t.strides[b]; });
  int64_t expected = 1;
  for (size_t d : order) {
    if (t.strides[d] != expected) return false;
    expected *= t.sizes[d];
  }
  return true;
}

bool TensorBase::is_contiguous_as(MemoryFormat format) const {
  const TensorImpl& t = get();
  switch (format) {
  case MemoryFormat::ChannelsLast: return is_channels_last(t.sizes, t.strides, 4);
  case MemoryFormat::ChannelsLast3d: return is_channels_last(t.sizes, t.strides, 5);
  case MemoryFormat::Preserve:
  case MemoryFormat::Contiguous: break;
  }
  return t.contiguous;
}

MemoryFormat TensorBase::suggest_memory_format() const {
  const TensorImpl& t = get();
  if (suggests_channels_last(t.sizes, t.strides, 4)) return MemoryFormat::ChannelsLast;
  if (suggests_channels_last(t.sizes, t.strides, 5)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

size_t TensorBase::wrap(int64_t d) const {
  TENON_CHECK_INDEX(dim() > 0, "Dimension specified as ", d, " but tensor has no dimensions");
  return static_cast<size_t>(wrap_dim(d, dim()));
}

void TensorBase::check_type(ScalarType wanted) const {
  TENON_CHECK_TYPE(scalar_type() == wanted, "[data_ptr] expected a tensor of ", wanted,
                   " elements, got ", scalar_type());
}

void TensorBase::no_memory() const {
  TENON_CHECK_NOT_IMPLEMENTED(!get().sparse, "an operator reads the memory of a tensor of layout ",
                              layout(), ", which has none of its own. Convert it with to_dense()");
  TENON_CHECK(!key_set().has(DispatchLayer::Python),
              "Cannot access data pointer of Tensor that doesn't have storage: an operator reads "
              "the memory of a tensor whose class has __torch_dispatch__, which has none of its "
              "own");
  detail::raise<Error>(
      "vmap: an operator reads the memory of a batched tensor, which has none of its own. Call it "
      "outside of vmap, or give its entry a rule with `batched:`");
}

void TensorBase::undefined() { detail::raise<Error>("expected a tensor, got an undefined one"); }

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

DimVector strides_of_format(IntArrayRef sizes, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) {
    return contiguous_strides(sizes);
  }
  const size_t dims = format == MemoryFormat::ChannelsLast ? 4 : 5;
  TENON_CHECK(sizes.size() == dims, "required rank ", dims, " tensor to use ", format,
              " format, got sizes ", sizes);
  DimVector strides(dims);
  int64_t stride = 1;
  const auto place = [&](size_t d) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  };
  place(1);
  for (size_t d = dims - 1; d >= 2; --d) place(d);
  place(0);
  return strides;
}

int64_t wrap_dim(int64_t d, int64_t dim) {
  const int64_t range = std::max<int64_t>(dim, 1);
  TENON_CHECK_INDEX(d >= -range && d < range,
                    "Dimension out of range (expected to be in range of [", -range, ", ", range - 1,
                    "], but got ", d, ")");
  return d < 0 ? d + range : d;
}

int64_t numel_of(IntArrayRef sizes) {
  // The strides of an empty tensor count as if its empty dimensions had one element.
  int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (int64_t s : sizes) {
    TENON_CHECK(s >= 0, "Trying to create tensor with negative dimension ", s, ": ", sizes);
    empty |= s == 0;
    overflow |= __builtin_mul_overflow(count, std::max<int64_t>(s, 1), &count);
  }
  TENON_CHECK(!overflow, "sizes ", sizes, " have more elements than can be counted");
  return empty ? 0 : count;
}

void register_allocator(DeviceType type, const DeviceAllocator* allocator) {
  allocators[static_cast<size_t>(backend_of(type))] = allocator;
}

StorageImpl* allocate_storage(size_t bytes, Device device) {
  if (TENON_LIKELY(device.is_cpu())) return StorageImpl::create_cpu(bytes);
  if (device.is_meta()) {
    return StorageImpl::create(
        nullptr, bytes, device, [](void*, void*, size_t) noexcept {}, nullptr);
  }
  const bool is_only_a_name = device.type() != kCUDA && device.type() != kPrivateUse1;
  const DeviceAllocator* allocator =
      is_only_a_name ? nullptr : allocators[static_cast<size_t>(backend_of(device.type()))];
  TENON_CHECK(allocator, "no memory can be had on device ", device,
              ": the library was built without it or no such device is present");
  return allocator->allocate(bytes, device);
}

TensorBase empty(IntArrayRef sizes, ScalarType dtype, Device device) {
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(dtype, device));
  int64_t count = 1;
  if (TENON_LIKELY(sizes.size() <= 1)) {
    if (sizes.size() == 1) count = sizes[0];
    if (TENON_UNLIKELY(count < 0 || count > (int64_t{1} << 48))) count = numel_of(sizes);
  } else {
    count = numel_of(sizes);
  }
  impl->storage =
      IntrusivePtr<StorageImpl>::adopt(allocate_storage(bytes_for(count, dtype), device));
  impl->device = impl->storage->device();
  impl->data = impl->storage->data();
  impl->set_sizes_contiguous(sizes);
  return TensorBase(std::move(impl));
}

TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  if (strides.empty()) return empty(sizes, dtype, device);
  TENON_CHECK(sizes.size() == strides.size(), "[empty_strided] sizes ", sizes, " and strides ",
              strides, " differ in length");
  numel_of(sizes);
  for (int64_t s : strides) {
    TENON_CHECK(s >= 0, "[empty_strided] strides must not be negative, got ", strides);
  }
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(dtype, device));
  const int64_t extent = storage_extent(sizes, strides);
  impl->storage =
      IntrusivePtr<StorageImpl>::adopt(allocate_storage(bytes_for(extent, dtype), device));
  impl->device = impl->storage->device();
  impl->data = impl->storage->data();
  impl->set_sizes_and_strides(sizes, strides);
  return TensorBase(std::move(impl));
}

namespace {

[[noreturn]] TENON_NOINLINE void raise_out_of_storage(const TensorImpl& source, IntArrayRef sizes,
                                                      IntArrayRef strides, int64_t offset) {
  TENON_CHECK(offset >= 0, "a view's storage offset must not be negative, got ", offset);
  const size_t item = element_size(source.dtype);
  detail::raise<Error>("setStorage: sizes ", sizes, ", strides ", strides, ", storage offset ",
                       offset, ", and itemsize ", item, " requiring a storage size of ",
                       (offset + storage_extent(sizes, strides)) * static_cast<int64_t>(item),
                       " are out of bounds for storage of size ", source.storage->nbytes());
}

/// The conjugate and negative bits: few tensors have one, and others pay for one test.
void copy_bits(const TensorImpl& from, TensorImpl& to) {
  if (TENON_LIKELY(!from.is_conj && !from.is_neg)) return;
  to.is_conj = from.is_conj;
  to.is_neg = from.is_neg;
  to.key_set.backends = from.key_set.backends;
}

/// A view of all of `source` but its geometry and its first element, which the caller sets.
IntrusivePtr<TensorImpl> new_view(TensorImpl& source, int64_t offset) {
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(source.dtype, source.device));
  impl->storage = source.storage;
  impl->storage_offset = offset;
  impl->is_inference = source.is_inference;
  copy_bits(source, *impl);
  if (TENON_UNLIKELY(source.is_inference)) return impl;
  TensorImpl& base = source.base ? *source.base : source;
  impl->base = IntrusivePtr<TensorImpl>::share(&base);
  impl->history_version.store(base.version(), std::memory_order_relaxed);
  impl->creation_meta = source.creation_meta;
  if (is_differentiable(source.dtype)) {
    // A base may come to require grad later, so every call on a view asks the autograd layer.
    impl->key_set = impl->key_set.add(DispatchLayer::Autograd);
    const bool records = thread_state.grad_mode && !thread_state.inference_mode;
    if (!records && impl->creation_meta == CreationMeta::Default) {
      impl->creation_meta =
          thread_state.inference_mode ? CreationMeta::Inference : CreationMeta::NoGrad;
    }
  }
  return impl;
}

}  // namespace

int64_t TensorBase::_version() const {
  TENON_CHECK(!get().is_inference, "Inference tensors do not track version counter.");
  return get().version();
}

TensorBase make_view(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                     int64_t offset) {
  self.data_ptr();  // an error for a batched tensor
  TensorImpl& source = *self.unsafe_impl();
  const auto extent = static_cast<size_t>(storage_extent(sizes, strides));
  // Elements are compared, since bytes may exceed what can be counted; a negative offset is a large
  // one here.
  const size_t elements = source.storage->nbytes() >> std::countr_zero(element_size(source.dtype));
  if (TENON_UNLIKELY(offset < 0 ||
                     (extent != 0 &&
                      (extent > elements || static_cast<size_t>(offset) > elements - extent)))) {
    raise_out_of_storage(source, sizes, strides, offset);
  }
  auto impl = new_view(source, offset);
  impl->set_sizes_and_strides(sizes, strides);
  impl->refresh_data();
  return TensorBase(std::move(impl));
}

TensorBase make_contiguous_view(const TensorBase& self, IntArrayRef sizes) {
  self.data_ptr();  // an error for a batched tensor
  TensorImpl& source = *self.unsafe_impl();
  auto impl = new_view(source, source.storage_offset);
  impl->set_sizes_contiguous(sizes);
  TENON_ASSERT(impl->numel == source.numel, "a contiguous view has its tensor's elements");
  impl->data = source.data;
  return TensorBase(std::move(impl));
}

TensorBase make_detached(const TensorBase& self) {
  TensorImpl& source = *self.unsafe_impl();
  if (TENON_LIKELY(!source.sparse)) self.data_ptr();  // an error for a batched tensor
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(source.dtype, source.device));
  impl->storage = source.storage;
  impl->storage_offset = source.storage_offset;
  impl->data = source.data;
  impl->numel = source.numel;
  impl->contiguous = source.contiguous;
  impl->sizes = source.sizes;
  impl->strides = source.strides;
  impl->is_wrapped_number = source.is_wrapped_number;
  impl->is_inference = source.is_inference;
  copy_bits(source, *impl);
  if (TENON_UNLIKELY(source.sparse != nullptr)) {
    impl->sparse = new SparseValue(*source.sparse);
    impl->layout = source.layout;
    impl->has_memory = false;
    impl->contiguous = false;
    impl->key_set = DispatchKeySet(kThreadLayers, source.key_set.backends);
  }
  source.share_version_with(*impl);
  return TensorBase(std::move(impl));
}

void resize(const TensorBase& self, IntArrayRef sizes) {
  self.data_ptr();  // an error for a batched tensor
  TensorImpl& t = *self.unsafe_impl();
  const size_t needed = bytes_for(t.storage_offset + numel_of(sizes), t.dtype);
  if (needed > t.storage->nbytes()) {
    // Others know where their first element lies, and would go on reading what is freed here.
    TENON_CHECK(t.storage->refs.count() == 1, "[resize_] growing from ", t.storage->nbytes(),
                " to ", needed,
                " bytes needs memory of its own, but other tensors share it: resize a clone()");
    const auto grown = IntrusivePtr<StorageImpl>::adopt(allocate_storage(needed, t.device));
    const size_t filled = t.storage->nbytes();
    if (t.device.is_cpu() && filled) {
      std::memcpy(grown->data(), t.storage->data(), filled);
    } else if (!t.device.is_meta() && t.numel != 0) {
      copy_within_device(grown->data(), t.storage->data(), filled, t.device);
    }
    // The storage keeps its identity; the memory changes hands.
    struct Held {
      IntrusivePtr<StorageImpl> storage;
    };
    auto* held = new Held{grown};
    t.storage->reset_data(
        grown->data(), needed,
        [](void* context, void*, size_t) noexcept { delete static_cast<Held*>(context); }, held);
    t.refresh_data();
  }
  t.set_sizes_contiguous(sizes);
}

}  // namespace tenon
