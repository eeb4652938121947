#pragma once

#include "aten/cpu/product.h"
#include "aten/iterator/element_copy.h"

namespace tenon::native {

/// Row-major operands in the type a kernel computes in, for kernels over plain memory. Half types
/// become float.
inline ScalarType opmath_type(ScalarType t) { return is_reduced_floating_point(t) ? kFloat : t; }

/// `t` itself if it is row-major and of that type, else a converted copy. Undefined stays
/// undefined.
inline TensorBase plain_input(const TensorBase& t, ScalarType type) {
  if (!t.defined() || (t.scalar_type() == type && t.is_contiguous())) return t;
  TensorBase fresh = empty(t.sizes(), type, t.device());
  copy(fresh, t);
  return fresh;
}
template <class T>
TensorBase plain_input(const std::optional<T>& t, ScalarType type) {
  return t ? plain_input(static_cast<const TensorBase&>(*t), type) : TensorBase();
}

/// What a kernel writes in place of `out`: `out` itself where it is plain.
class PlainOutput {
 public:
  PlainOutput(const TensorBase& out, ScalarType type) : out_(out), plain_(out) {
    if (out.scalar_type() != type || !out.is_contiguous())
      plain_ = empty(out.sizes(), type, out.device());
  }
  PlainOutput(const PlainOutput&) = delete;
  PlainOutput& operator=(const PlainOutput&) = delete;
  template <class T>
  T* data() const {
    return plain_.data_ptr<T>();
  }
  void* raw_data() const { return plain_.data_ptr(); }
  /// Converts into `out` where the kernel wrote somewhere else; call it when the kernel is done.
  void deliver() const {
    if (!plain_.is_same(out_)) copy(out_, plain_);
  }

 private:
  TensorBase out_;
  TensorBase plain_;
};

/// Pointer to the elements, or null for an undefined tensor.
template <class T>
T* data_or_null(const TensorBase& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

/// Sizes before, of and after dimension `dim`: a row-major tensor as [outer, n, inner].
struct Split {
  int64_t outer = 1, n = 1, inner = 1;

  Split(IntArrayRef sizes, int64_t dim) {
    dim = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
    for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
      (d < dim ? outer : d == dim ? n : inner) *= sizes[d];
    }
  }
};

}  // namespace tenon::native
