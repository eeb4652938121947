#pragma once

#include "aten/core/tensor_accessor.h"
#include "aten/core/tensor_impl.h"
#include "aten/core/tensor_options.h"

namespace tenon {

class Tensor;

/// A reference to a tensor, or to nothing ("undefined"), without the operators: what kernels need.
/// Copies share the tensor. `Tensor`, which is generated, adds one method per operator.
class TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* unsafe_impl() const { return impl_.get(); }
  TensorImpl* unsafeGetTensorImpl() const { return unsafe_impl(); }
  const IntrusivePtr<TensorImpl>& impl() const& { return impl_; }
  IntrusivePtr<TensorImpl> impl() && { return std::move(impl_); }
  bool is_same(const TensorBase& other) const { return impl_ == other.impl_; }
  void reset() { impl_.reset(); }
  uint32_t use_count() const { return impl_ ? impl_->refs.count() : 0; }

  int64_t dim() const { return static_cast<int64_t>(get().sizes.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return get().numel; }
  IntArrayRef sizes() const { return get().sizes; }
  IntArrayRef strides() const { return get().strides; }
  /// Size of dimension d; d < 0 counts from the end. IndexError if out of range.
  int64_t size(int64_t d) const { return get().sizes[wrap(d)]; }
  int64_t stride(int64_t d) const { return get().strides[wrap(d)]; }
  int64_t storage_offset() const { return get().storage_offset; }
  ScalarType scalar_type() const { return get().dtype; }
  ScalarType dtype() const { return get().dtype; }
  Device device() const { return get().device; }
  Layout layout() const { return get().layout; }
  TensorOptions options() const {
    return TensorOptions().dtype(dtype()).device(device()).layout(layout());
  }
  size_t element_size() const { return tenon::element_size(scalar_type()); }
  int64_t itemsize() const { return static_cast<int64_t>(element_size()); }
  size_t nbytes() const { return numel() * element_size(); }
  /// The device's number; -1 for the CPU.
  DeviceIndex get_device() const { return device().index(); }
  bool is_signed() const { return scalar_type() != kBool && !is_unsigned(scalar_type()); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_floating_point() const { return tenon::is_floating_point(scalar_type()); }
  bool is_complex() const { return tenon::is_complex(scalar_type()); }
  bool is_sparse() const { return get().layout == kSparse; }
  bool is_sparse_csr() const { return get().layout == kSparseCsr; }
  /// Whether the elements are the conjugates of those in memory, or their negatives.
  bool is_conj() const { return get().is_conj; }
  bool is_neg() const { return get().is_neg; }
  bool is_wrapped_number() const { return get().is_wrapped_number; }
  DispatchKeySet key_set() const { return impl_ ? impl_->key_set : DispatchKeySet(); }

  /// Whether the elements lie in memory in the format's order without gaps.
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return format == MemoryFormat::Contiguous ? get().contiguous : is_contiguous_as(format);
  }
  /// Whether the elements fill their memory exactly once, in whatever order.
  TENON_API bool is_non_overlapping_and_dense() const;
  /// ChannelsLast or ChannelsLast3d if the strides say so, else Contiguous.
  TENON_API MemoryFormat suggest_memory_format() const;

  Storage storage() const { return Storage(get().storage); }
  bool has_storage() const { return impl_ && impl_->storage; }
  bool is_alias_of(const TensorBase& other) const { return get().storage == other.get().storage; }
  /// The first element. Error for a tensor without memory of its own, a batched or sparse one.
  void* data_ptr() const {
    TensorImpl& t = get();
    if (TENON_UNLIKELY(!t.has_memory)) no_memory();
    return t.data;
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  const void* const_data_ptr() const { return data_ptr(); }
  /// Access to single elements on the CPU: `auto a = t.accessor<float, 2>(); a[i][j] = 1;`. It must
  /// not outlive the tensor. TypeError unless T is the tensor's element type, ValueError unless it
  /// has N dimensions.
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    TENON_CHECK_VALUE(dim() == static_cast<int64_t>(N), "[accessor] expected ", N,
                      " dimensions, got ", dim());
    return TensorAccessor<T, N>(data_ptr<std::remove_const_t<T>>(), sizes().data(),
                                strides().data());
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const&& = delete;
  /// The elements as T; TypeError unless T is the tensor's element type.
  template <class T>
  T* data_ptr() const {
    check_type(scalar_type_of<T>);
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }

  /// Number of in-place changes to this tensor and everything that shares its memory.
  /// Error for an inference tensor, whose changes are not counted.
  TENON_API int64_t _version() const;
  /// Whether it was made in inference mode, and so never takes part in gradients.
  bool is_inference() const { return get().is_inference; }
  /// Whether this is a view of another tensor.
  bool is_view() const { return static_cast<bool>(get().base); }

  /// A view may come to require grad through its base, a batched tensor requires grad if its value
  /// does, hence the other conditions.
  bool requires_grad() const {
    return impl_ && (impl_->autograd_meta || impl_->base || impl_->batched) && requires_grad_slow();
  }

 private:
  TensorImpl& get() const {
    if (TENON_UNLIKELY(!impl_)) undefined();
    return *impl_;
  }
  TENON_API size_t wrap(int64_t d) const;
  TENON_API bool is_contiguous_as(MemoryFormat format) const;
  TENON_API void check_type(ScalarType wanted) const;
  TENON_API bool requires_grad_slow() const;  // the autograd layer's
  [[noreturn]] static TENON_API void undefined();
  [[noreturn]] TENON_API void no_memory() const;

 protected:
  IntrusivePtr<TensorImpl> impl_;
};

/// Row-major strides, in elements, of a tensor of these sizes.
TENON_API DimVector contiguous_strides(IntArrayRef sizes);
/// Strides of the format; ChannelsLast needs 4 dimensions, ChannelsLast3d 5, else ValueError.
TENON_API DimVector strides_of_format(IntArrayRef sizes, MemoryFormat format);
/// d in [-dim, dim) as [0, dim); a tensor without dimensions takes -1 and 0.
/// IndexError "Dimension out of range (expected to be in range of [-1, 0], but got 2)".
TENON_API int64_t wrap_dim(int64_t d, int64_t dim);
/// Product of the sizes; throws on overflow or a negative size.
TENON_API int64_t numel_of(IntArrayRef sizes);

/// An uninitialised tensor on `device`. Empty strides mean row-major.
TENON_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                                   Device device);
TENON_API TensorBase empty(IntArrayRef sizes, ScalarType dtype, Device device);

/// A tensor of other geometry over the same storage, counting changes together with `self`.
/// `offset` is from the storage's start, in elements; out-of-bounds geometry throws.
TENON_API TensorBase make_view(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                               int64_t offset);
/// All elements of the contiguous `self` in other, row-major sizes; their product must be numel().
TENON_API TensorBase make_contiguous_view(const TensorBase& self, IntArrayRef sizes);
/// The same without being a view for autograd: what detach() returns.
TENON_API TensorBase make_detached(const TensorBase& self);

/// Gives `self` new sizes, row-major, growing its storage if it must. Error if that must grow and
/// other tensors share it.
TENON_API void resize(const TensorBase& self, IntArrayRef sizes);

/// How an out-of-tree or optional backend provides memory; CPU and Meta are built in.
struct DeviceAllocator {
  StorageImpl* (*allocate)(size_t bytes, Device device);
};
TENON_API void register_allocator(DeviceType type, const DeviceAllocator* allocator);
TENON_API StorageImpl* allocate_storage(size_t bytes, Device device);

}  // namespace tenon
