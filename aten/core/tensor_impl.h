#pragma once

#include <atomic>

#include "aten/core/dispatch_key.h"
#include "aten/core/intrusive_ptr.h"
#include "aten/core/memory_format.h"
#include "aten/core/scalar_type.h"
#include "aten/core/small_vector.h"
#include "aten/core/storage.h"

namespace tenon {

namespace autograd {
struct AutogradMeta;
/// Defined by the autograd layer, which alone knows what the struct holds.
TENON_API void destroy_autograd_meta(AutogradMeta* meta) noexcept;
}  // namespace autograd

struct BatchedValue;
struct SparseValue;

/// The number of in-place changes, of tensors that share it without being views of one another.
struct SharedVersion {
  RefCount refs;
  std::atomic<uint32_t> value{0};

  static TENON_API SharedVersion* create(uint32_t start);
  static TENON_API void destroy(SharedVersion* version) noexcept;
};

/// How a view came to be, which decides whether it may be changed in place (the autograd layer's
/// texts).
enum class CreationMeta : uint8_t { Default, MultiOutput, NoGrad, CustomFunction, Inference };

/// What a Tensor points to: geometry, element type and a share of a storage.
struct TensorImpl {
  RefCount refs;
  DispatchKeySet key_set;
  ScalarType dtype;
  Device device;
  bool contiguous = true;
  /// False for a tensor that consists of others, a batched or sparse one.
  bool has_memory = true;
  Layout layout = Layout::Strided;
  bool is_wrapped_number = false;  ///< a 0-dim tensor standing for a plain number in type promotion
  CreationMeta creation_meta = CreationMeta::Default;
  /// Made in inference mode: its changes are not counted, nor are its views known as such, so that
  /// it can be changed in inference mode only and is never saved for backward.
  bool is_inference = false;
  /// Its elements are the conjugates of those in memory, or the negatives, or both.
  bool is_conj : 1 = false;
  bool is_neg : 1 = false;
  void* data = nullptr;  ///< first element; null on devices without data
  int64_t numel = 0;
  int64_t storage_offset = 0;  ///< in elements
  IntrusivePtr<StorageImpl> storage;
  DimVector sizes;
  DimVector strides;                ///< in elements
  IntrusivePtr<TensorImpl> base;    ///< of a view: the tensor that is no view itself
  BatchedValue* batched = nullptr;  ///< owned; of a batched tensor (aten/batching/batch.h)
  SparseValue* sparse = nullptr;    ///< owned; of a sparse tensor (aten/sparse)
  /// Owned; null until gradients are involved. A view may get it while other threads read.
  std::atomic<autograd::AutogradMeta*> autograd_meta{nullptr};

  TensorImpl(ScalarType t, Device d)
      : key_set(DispatchKeySet(kThreadLayers, 0) | DispatchKeySet(backend_of(d.type()))), dtype(t),
        device(d) {}
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  static TENON_API TensorImpl* create(ScalarType dtype, Device device);
  static TENON_API void destroy(TensorImpl* impl) noexcept;

  /// Sets sizes with row-major strides and the number of elements.
  TENON_API void set_sizes_contiguous(IntArrayRef new_sizes);
  TENON_API void set_sizes_and_strides(IntArrayRef new_sizes, IntArrayRef new_strides);
  /// Sets both bits, and the backend that asks for copies without them.
  void set_unresolved(bool conj, bool neg) {
    constexpr uint8_t kBit = DispatchKeySet(Backend::Unresolved).backends;
    is_conj = conj;
    is_neg = neg;
    key_set.backends = static_cast<uint8_t>((key_set.backends & ~kBit) | (conj || neg ? kBit : 0));
  }
  /// Recomputes `data` after the storage or the offset has changed.
  void refresh_data() {
    data = storage && storage->data()
               ? static_cast<char*>(storage->data()) + storage_offset * element_size(dtype)
               : nullptr;
  }

  /// Number of changes in place; a view counts with its base.
  uint32_t version() const {
    const TensorImpl& t = base ? *base : *this;
    const SharedVersion* shared = t.shared_version.load(std::memory_order_acquire);
    return (shared ? shared->value : t.own_version).load(std::memory_order_relaxed);
  }
  /// Threads that change parts of one tensor are all counted.
  void bump_version() {
    TensorImpl& t = base ? *base : *this;
    SharedVersion* shared = t.shared_version.load(std::memory_order_acquire);
    std::atomic<uint32_t>& count = shared ? shared->value : t.own_version;
    if (detail::single_threaded()) {
      count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count.fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// Error if it is an inference tensor, which may be changed in inference mode only.
  void check_may_change() const {
    if (TENON_UNLIKELY(is_inference)) check_inference_mode();
  }
  /// From now on `other`, no view, counts its changes together with this tensor.
  TENON_API void share_version_with(TensorImpl& other);
  /// From now on its changes are counted apart from those of tensors that share its memory.
  TENON_API void count_version_apart() noexcept;

  std::atomic<uint32_t> own_version{0};
  /// Of a view: version() for which its node is the right one. Stored after the node.
  std::atomic<uint32_t> history_version{0};
  std::atomic<SharedVersion*> shared_version{nullptr};  ///< owned; null until it is shared

 private:
  static TENON_API void check_inference_mode();
};

}  // namespace tenon
