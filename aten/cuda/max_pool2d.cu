// Maxima over windows of planes, with their positions, and what their gradients need.
#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_accumulate.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/launch.h"
#include "aten/meta/pooling.h"
#include "tenon/native/_max_pool2d_gather.h"
#include "tenon/native/max_pool2d_with_indices.h"
#include "tenon/native/max_pool2d_with_indices_backward.h"

namespace tenon {
namespace {

using meta::Pool2d;

/// The first position not below 0 that a window starting at `start` covers.
__device__ int64_t first_inside(int64_t start, int64_t dilation) {
  return start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
}

/// One thread for each output. NaN wins over every number.
template <class T>
__global__ void forward_kernel(const T* in, T* out, int64_t* indices,
                               const __grid_constant__ Pool2d p, cuda::Extent out_h,
                               cuda::Extent out_w) {
  using V = cuda::opmath_type<T>;
  TENON_CUDA_LOOP(i, p.planes * p.out_h * p.out_w) {
    int64_t rest = i;
    const int64_t left = out_w.take(rest) * p.stride_w - p.pad_w;
    const int64_t top = out_h.take(rest) * p.stride_h - p.pad_h;
    const T* plane = in + rest * p.in_h * p.in_w;
    const int64_t bottom = min(top + (p.kernel_h - 1) * p.dilation_h + 1, p.in_h);
    const int64_t right = min(left + (p.kernel_w - 1) * p.dilation_w + 1, p.in_w);
    const int64_t h0 = first_inside(top, p.dilation_h), w0 = first_inside(left, p.dilation_w);
    int64_t best = h0 * p.in_w + w0;
    V max = V(0);
    bool any = false;
    for (int64_t h = h0; h < bottom; h += p.dilation_h) {
      for (int64_t w = w0; w < right; w += p.dilation_w) {
        const V v = cuda::convert<V>(plane[h * p.in_w + w]);
        if (!any || v > max || v != v) {
          max = v;
          best = h * p.in_w + w;
          any = true;
        }
      }
    }
    out[i] = cuda::convert<T>(max);
    indices[i] = best;
  }
}

/// Positions in planes of `plane_in` elements, one for each of those of `plane_out`.
struct Positions {
  const int64_t* indices;
  int64_t plane_in;
  cuda::Extent plane_out;

  __device__ int64_t place(int64_t i) const {
    TENON_KERNEL_CHECK(indices[i] >= 0 && indices[i] < plane_in);
    return plane_out.quotient(i) * plane_in + indices[i];
  }
};

template <class T>
struct Gradients : Positions {
  const T* grad;
  __device__ T value(int64_t i) const { return grad[i]; }
};

template <class T>
__global__ void gather_kernel(const T* in, T* out, int64_t n,
                              const __grid_constant__ Positions positions) {
  TENON_CUDA_LOOP(i, n) { out[i] = in[positions.place(i)]; }
}

int64_t plane_of(const TensorBase& t) { return t.size(-1) * t.size(-2); }

Positions positions(const TensorBase& at, const TensorBase& self) {
  return {at.data_ptr<int64_t>(), plane_of(self), cuda::Extent(plane_of(at), at.numel())};
}

}  // namespace

void native::max_pool2d_with_indices_cuda(const Tensor& self, IntArrayRef kernel_size,
                                          IntArrayRef stride, IntArrayRef padding,
                                          IntArrayRef dilation, bool ceil_mode, const Tensor& out,
                                          const Tensor& indices) {
  if (out.numel() == 0) return;
  const Pool2d p =
      meta::pool2d("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode);
  const TensorBase x = native::contiguous(self);
  const native::ContiguousOutput y(out), at(indices);
  const cuda::LaunchScope scope(out);
  TENON_DISPATCH_SWITCH(
      self.scalar_type(), "max_pool2d",
      TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
          TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE),
      {
        cuda::launch(forward_kernel<scalar_t>, cuda::blocks_for(out.numel()), cuda::kBlock, 0,
                     scope, x.data_ptr<scalar_t>(), y.data<scalar_t>(), at.data<int64_t>(), p,
                     cuda::Extent(p.out_h, out.numel()), cuda::Extent(p.out_w, out.numel()));
      });
  y.copy_back();
  at.copy_back();
}

/// 0 but at the maxima, where the gradients of all windows that chose them add up, half types in
/// float.
void native::max_pool2d_with_indices_backward_cuda(const Tensor& grad_output, const Tensor& self,
                                                   IntArrayRef, IntArrayRef, IntArrayRef,
                                                   IntArrayRef, bool, const Tensor& indices,
                                                   const Tensor& grad_input) {
  if (grad_input.numel() == 0) return;
  const ScalarType type = self.scalar_type() == kDouble ? kDouble : kFloat;
  const TensorBase dy = native::contiguous(grad_output, type),
                   at = native::contiguous(indices, kLong);
  const native::ContiguousOutput dx(grad_input, type);
  const cuda::LaunchScope scope(grad_input);
  TENON_CUDA_CHECK(cudaMemsetAsync(dx.data<void>(), 0, dx.tensor().nbytes(), scope));
  if (dy.numel() > 0) {
    TENON_DISPATCH_FLOATING(type, "max_pool2d_with_indices_backward", {
      cuda::accumulate<cuda::Accumulation::Sum>(
          dx.data<scalar_t>(), dy.numel(),
          Gradients<scalar_t>{positions(at, self), dy.data_ptr<scalar_t>()}, scope);
    });
  }
  dx.copy_back();
}

/// out[..., i] = self[..., indices[i]] with positions counted within a plane.
void native::_max_pool2d_gather_cuda(const Tensor& self, const Tensor& indices, const Tensor& out) {
  if (out.numel() == 0) return;
  const TensorBase x = native::contiguous(self), at = native::contiguous(indices, kLong);
  const native::ContiguousOutput y(out);
  const cuda::LaunchScope scope(out);
  cuda::dispatch_size(self.element_size(), [&]<class T>() {
    cuda::launch(gather_kernel<T>, cuda::blocks_for(out.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(x.const_data_ptr()), y.data<T>(), out.numel(),
                 positions(at, self));
  });
  y.copy_back();
}

}  // namespace tenon
