#pragma once

#include "aten/core/tensor_base.h"
#include "aten/iterator/element_copy.h"

namespace tenon::native {

/// A contiguous tensor seen as [outer, length, inner] around one dimension.
struct DimSplit {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  DimSplit(IntArrayRef sizes, int64_t dim) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      (static_cast<int64_t>(i) < dim    ? outer
       : static_cast<int64_t>(i) == dim ? length
                                        : inner) *= sizes[i];
    }
  }
};

/// `t` itself if it is row-major and of the type, else a copy that is.
inline TensorBase dense(const TensorBase& t, ScalarType type) {
  if (t.is_contiguous() && t.scalar_type() == type) return t;
  TensorBase copied = tenon::empty(t.sizes(), type, t.device());
  native::copy(copied, t);
  return copied;
}
inline TensorBase dense(const TensorBase& t) { return dense(t, t.scalar_type()); }

/// A row-major tensor to write `out` through: itself where it is one. finish() copies back
/// otherwise.
class DenseOutput {
 public:
  explicit DenseOutput(const TensorBase& out)
      : out_(out),
        dense_(out.is_contiguous() ? out
                                   : tenon::empty(out.sizes(), out.scalar_type(), out.device())) {}
  const TensorBase& tensor() const { return dense_; }
  void* data() const { return dense_.mutable_data_ptr(); }
  void finish() const {
    if (!dense_.is_same(out_)) native::copy(out_, dense_);
  }

 private:
  TensorBase out_;
  TensorBase dense_;
};

/// Calls f.operator()<T>() with an unsigned type of the item's size: 1, 2, 4, 8 or 16 bytes; for
/// kernels that only move elements.
struct Bytes16 {
  uint64_t low, high;
};
template <class F>
void dispatch_size(size_t item, F&& f) {
  switch (item) {
  case 1: return f.template operator()<uint8_t>();
  case 2: return f.template operator()<uint16_t>();
  case 4: return f.template operator()<uint32_t>();
  case 8: return f.template operator()<uint64_t>();
  default: return f.template operator()<Bytes16>();
  }
}

}  // namespace tenon::native
