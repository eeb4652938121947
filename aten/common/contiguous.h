#pragma once

#include <optional>

#include "aten/common/opmath_type.h"
#include "aten/core/tensor_base.h"

// Contiguous tensors in the dtype that a kernel computes in, for kernels that know no strides.
namespace tenon::native {

/// A copy of `t` in that dtype and format.
TENON_API TensorBase contiguous_copy(const TensorBase& t, ScalarType dtype,
                                     MemoryFormat format = MemoryFormat::Contiguous);

/// `t` itself if it is of that dtype and contiguous in that format, otherwise a copy that is.
/// Undefined stays undefined.
inline TensorBase contiguous(const TensorBase& t, ScalarType dtype,
                             MemoryFormat format = MemoryFormat::Contiguous) {
  if (!t.defined() || (t.scalar_type() == dtype && t.is_contiguous(format))) return t;
  return contiguous_copy(t, dtype, format);
}
template <class T>
TensorBase contiguous(const std::optional<T>& t, ScalarType dtype) {
  return t ? contiguous(static_cast<const TensorBase&>(*t), dtype) : TensorBase();
}

/// The same in t's own dtype.
inline TensorBase contiguous(const TensorBase& t) {
  return !t.defined() || t.is_contiguous() ? t : contiguous_copy(t, t.scalar_type());
}
template <class T>
TensorBase contiguous(const std::optional<T>& t) {
  return t ? contiguous(static_cast<const TensorBase&>(*t)) : TensorBase();
}

/// The memory format that `t` is contiguous in, if any.
TENON_API std::optional<MemoryFormat> contiguous_format(const TensorBase& t);

/// A contiguous tensor of a dtype to write `out` through: `out` itself if it is one.
class ContiguousOutput {
 public:
  explicit ContiguousOutput(const TensorBase& out) : ContiguousOutput(out, out.scalar_type()) {}
  ContiguousOutput(const TensorBase& out, ScalarType dtype)
      : out_(out), tensor_(out.is_contiguous() && out.scalar_type() == dtype
                               ? out
                               : empty(out.sizes(), dtype, out.device())) {}
  ContiguousOutput(const ContiguousOutput&) = delete;
  ContiguousOutput& operator=(const ContiguousOutput&) = delete;

  const TensorBase& tensor() const { return tensor_; }
  void* data() const { return tensor_.mutable_data_ptr(); }
  template <class T>
  T* data() const {
    return static_cast<T*>(data());
  }
  /// Converts into `out` if the kernel wrote to another tensor. Call it when the kernel is done.
  void copy_back() const;

 private:
  TensorBase out_, tensor_;
};

/// Pointer to the elements, or null for an undefined tensor.
template <class T>
T* data_or_null(const TensorBase& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

/// A contiguous tensor seen as [outer, length, inner] around one dimension; a 0-dim one as
/// [1, 1, 1].
struct DimSplit {
  int64_t outer = 1, length = 1, inner = 1;

  DimSplit(IntArrayRef sizes, int64_t dim) {
    const int64_t rank = static_cast<int64_t>(sizes.size());
    dim = wrap_dim(dim, rank);
    for (int64_t d = 0; d < rank; ++d) (d < dim ? outer : d == dim ? length : inner) *= sizes[d];
  }
};

}  // namespace tenon::native
