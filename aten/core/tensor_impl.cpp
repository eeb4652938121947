#include "aten/core/tensor_impl.h"

#include <functional>
#include <mutex>
#include <new>

#include "aten/core/error.h"
#include "aten/core/python_object.h"
#include "aten/core/thread_state.h"

namespace tenon {

/// Defined by aten/batching, which alone knows what the struct holds.
void destroy_batched_value(BatchedValue* value) noexcept;
/// Defined by aten/sparse.
void destroy_sparse_value(SparseValue* value) noexcept;

namespace {

std::atomic<const PythonHooks*> hooks_of_python{nullptr};

/// One of a few locks, so that threads that share different tensors seldom meet.
std::mutex& sharing_mutex(const void* tensor) {
  static std::mutex mutexes[16];
  return mutexes[std::hash<const void*>()(tensor) / 64 % std::size(mutexes)];
}

}  // namespace

void set_python_hooks(const PythonHooks* hooks) { hooks_of_python = hooks; }
const PythonHooks* python_hooks() { return hooks_of_python; }

SharedVersion* SharedVersion::create(uint32_t start) {
  auto* version = ::new (memory::allocate(sizeof(SharedVersion))) SharedVersion;
  version->value = start;
  return version;
}

void SharedVersion::destroy(SharedVersion* version) noexcept {
  memory::deallocate(version, sizeof(SharedVersion));
}

TensorImpl* TensorImpl::create(ScalarType dtype, Device device) {
  auto* impl = ::new (memory::allocate(sizeof(TensorImpl))) TensorImpl(dtype, device);
  impl->is_inference = thread_state.inference_mode;
  return impl;
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  if (TENON_UNLIKELY(impl->key_set.has(DispatchLayer::Python)) && python_hooks()->release(impl))
    return;
  impl->refs.clear();
  if (autograd::AutogradMeta* meta = impl->autograd_meta) autograd::destroy_autograd_meta(meta);
  impl->count_version_apart();
  if (TENON_UNLIKELY(!impl->has_memory)) {
    if (impl->batched) destroy_batched_value(impl->batched);
    if (impl->sparse) destroy_sparse_value(impl->sparse);
  }
  impl->~TensorImpl();
  memory::deallocate(impl, sizeof(TensorImpl));
}

void TensorImpl::set_sizes_contiguous(IntArrayRef new_sizes) {
  const size_t n = new_sizes.size();
  strides.resize_uninitialized(n);
  if (sizes.data() != new_sizes.data()) {
    sizes.resize_uninitialized(n);
    for (size_t i = 0; i < n; ++i) sizes[i] = new_sizes[i];
  }
  int64_t stride = 1;
  int64_t count = 1;
  for (size_t i = n; i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
    count *= sizes[i];
  }
  numel = count;
  contiguous = true;
}

void TensorImpl::set_sizes_and_strides(IntArrayRef new_sizes, IntArrayRef new_strides) {
  const size_t n = new_sizes.size();
  sizes.resize_uninitialized(n);
  strides.resize_uninitialized(n);
  int64_t* const size = sizes.data();
  int64_t* const stride = strides.data();
  // From the first to the last, so that either may be a part of what is there.
  for (size_t i = 0; i < n; ++i) {
    size[i] = new_sizes[i];
    stride[i] = new_strides[i];
  }
  int64_t count = 1;
  bool row_major = true;
  for (size_t i = n; i-- > 0;) {
    row_major &= size[i] == 1 || stride[i] == count;
    count *= size[i];
  }
  numel = count;
  contiguous = row_major || count == 0;
}

void TensorImpl::check_inference_mode() {
  TENON_CHECK(thread_state.inference_mode,
              "Inplace update to inference tensor outside InferenceMode is not allowed. You can "
              "make a clone to get a normal tensor before doing inplace update.");
}

void TensorImpl::share_version_with(TensorImpl& other) {
  TensorImpl& t = base ? *base : *this;
  // To share a tensor does not change it: several threads may do so at once.
  std::unique_lock lock(sharing_mutex(&t), std::defer_lock);
  if (!detail::single_threaded()) lock.lock();
  SharedVersion* shared = t.shared_version.load(std::memory_order_relaxed);
  if (!shared) {
    shared = SharedVersion::create(t.own_version.load(std::memory_order_relaxed));
    t.shared_version.store(shared, std::memory_order_release);
  }
  shared->refs.retain();
  other.shared_version.store(shared, std::memory_order_relaxed);
}

void TensorImpl::count_version_apart() noexcept {
  SharedVersion* shared = shared_version.load(std::memory_order_relaxed);
  shared_version.store(nullptr, std::memory_order_relaxed);
  IntrusivePtr<SharedVersion>::adopt(shared);
}

}  // namespace tenon
