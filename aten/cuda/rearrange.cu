// Operators that take every element of the result from a place of the input, dimension by
// dimension: repeat, flip, roll, constant_pad_nd.
#include "aten/common/contiguous.h"
#include "aten/common/dims.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/launch.h"
#include "tenon/native/constant_pad_nd.h"
#include "tenon/native/flip.h"
#include "tenon/native/repeat.h"
#include "tenon/native/roll.h"

namespace tenon {
namespace {

constexpr int kMaxDims = 16;

/// Along each dimension, output o comes from input `sign * o + shift`: modulo the size where it
/// wraps, else, out of range, it is the fill value.
struct Map {
  struct Dim {
    cuda::Extent out_size, in_size;
    int64_t in_stride, sign, shift;
  };
  int64_t numel;
  bool wraps;
  int ndim = 0;
  Dim dims[kMaxDims];

  /// To a tensor of `numel` elements.
  explicit Map(int64_t numel, bool wraps = false) : numel(numel), wraps(wraps) {}
  /// Where it wraps, `sign` is 1.
  void add(int64_t out_size, int64_t in_size, int64_t in_stride, int64_t sign, int64_t shift) {
    TENON_CHECK(ndim < kMaxDims, "tensors of at most ", kMaxDims, " dimensions are supported here");
    if (wraps && in_size > 0) shift = (shift % in_size + in_size) % in_size;
    dims[ndim++] = {cuda::Extent(out_size, numel), cuda::Extent(in_size, out_size + in_size),
                    in_stride, sign, shift};
  }

  /// Offset of the input element, -1 for the fill value.
  __device__ int64_t source(int64_t index) const {
    int64_t offset = 0;
    for (int d = ndim - 1; d >= 0; --d) {
      const Dim& dim = dims[d];
      int64_t at = dim.sign * dim.out_size.take(index) + dim.shift;
      if (wraps) {
        at = dim.in_size.take(at);
      } else if (at < 0 || at >= dim.in_size.size) {
        return -1;
      }
      offset += at * dim.in_stride;
    }
    return offset;
  }
};

template <class T>
__global__ void map_kernel(const T* in, T* out, int64_t n, T fill,
                           const __grid_constant__ Map map) {
  TENON_CUDA_LOOP(i, n) {
    const int64_t from = map.source(i);
    out[i] = from < 0 ? fill : in[from];
  }
}

/// Moves elements only; no output element is filled.
void move(const TensorBase& self, const Map& map, const Tensor& out) {
  if (out.numel() == 0) return;
  const native::ContiguousOutput result(out);
  const cuda::LaunchScope scope(out);
  cuda::dispatch_size(self.element_size(), [&]<class T>() {
    cuda::launch(map_kernel<T>, cuda::blocks_for(out.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(self.const_data_ptr()), result.data<T>(), out.numel(), T{},
                 map);
  });
  result.copy_back();
}

}  // namespace

void native::repeat_cuda(const Tensor& self, IntArrayRef, const Tensor& out) {
  Map map(out.numel(), true);
  const int64_t added = out.dim() - self.dim();
  for (int64_t d = 0; d < out.dim(); ++d) {
    map.add(out.size(d), d < added ? 1 : self.size(d - added),
            d < added ? 0 : self.stride(d - added), 1, 0);
  }
  move(self, map, out);
}

void native::flip_cuda(const Tensor& self, IntArrayRef dims, const Tensor& out) {
  Map map(out.numel());
  const uint64_t mask = dim_mask("flip", dims, self.dim(), false);
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool flipped = (mask >> d) & 1;
    map.add(self.size(d), self.size(d), self.stride(d), flipped ? -1 : 1,
            flipped ? self.size(d) - 1 : 0);
  }
  move(self, map, out);
}

/// Along each dim, element i comes from i - shift, cyclically; without dims, of all elements in a
/// row.
void native::roll_cuda(const Tensor& self, IntArrayRef shifts, IntArrayRef dims,
                       const Tensor& out) {
  Map map(out.numel(), true);
  if (dims.empty()) {
    const TensorBase in = native::contiguous(self);
    map.add(in.numel(), in.numel(), 1, 1, -shifts[0]);
    return move(in, map, out);
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    int64_t shift = 0;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (wrap_dim(dims[k], self.dim()) == d) shift += shifts[k];
    }
    map.add(self.size(d), self.size(d), self.stride(d), 1, -shift);
  }
  move(self, map, out);
}

/// pad = (before, after) of the last dimension, then of the one before it, ...; negative pads cut
/// off.
void native::constant_pad_nd_cuda(const Tensor& self, IntArrayRef pad, const Scalar& value,
                                  const Tensor& out) {
  if (out.numel() == 0) return;
  Map map(out.numel());
  for (int64_t d = 0; d < self.dim(); ++d) {
    const auto at = static_cast<size_t>(2 * (self.dim() - 1 - d));
    map.add(out.size(d), self.size(d), self.stride(d), 1, at < pad.size() ? -pad[at] : 0);
  }
  const native::ContiguousOutput result(out);
  const cuda::LaunchScope scope(out);
  TENON_DISPATCH_ALL(self.scalar_type(), "constant_pad_nd", {
    using T = cuda::device_t<scalar_t>;
    cuda::launch(map_kernel<T>, cuda::blocks_for(out.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(self.const_data_ptr()), result.data<T>(), out.numel(),
                 cuda::number_as<T>(value), map);
  });
  result.copy_back();
}

}  // namespace tenon
