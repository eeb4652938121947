#pragma once

#include "aten/cuda/copy.h"

namespace tenon::cuda {

/// A contiguous tensor seen as [outer, length, inner] around one dimension; a 0-dim one as [1, 1,
/// 1].
struct DimSplit {
  int64_t outer = 1, length = 1, inner = 1;

  DimSplit(IntArrayRef sizes, int64_t dim) {
    const int64_t d = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
    for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
      (i < d ? outer : i == d ? length : inner) *= sizes[static_cast<size_t>(i)];
    }
  }
};

/// A row-major tensor to write `out` through: itself where it is one. finish() copies back
/// otherwise.
class DenseOutput {
 public:
  explicit DenseOutput(const TensorBase& out) : DenseOutput(out, out.scalar_type()) {}
  DenseOutput(const TensorBase& out, ScalarType dtype)
      : out_(out), dense_(out.is_contiguous() && out.scalar_type() == dtype
                              ? out
                              : tenon::empty(out.sizes(), dtype, out.device())) {}
  const TensorBase& tensor() const { return dense_; }
  template <class T>
  T* data() const {
    return static_cast<T*>(dense_.mutable_data_ptr());
  }
  void finish() const {
    if (!dense_.is_same(out_)) copy(out_, dense_);
  }

 private:
  TensorBase out_, dense_;
};

/// Calls f.operator()<T>() with a plain type of the item's size: 1, 2, 4, 8 or 16 bytes; for
/// kernels that only move elements.
struct alignas(16) Bytes16 {
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

}  // namespace tenon::cuda
