// Maxima over windows of planes, with their positions, and what their gradients need.
#include "aten/cuda/atomic.cuh"
#include "aten/cuda/dense.h"
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
                               const __grid_constant__ Pool2d p) {
  using V = cuda::accumulate_t<T>;
  const int64_t plane_out = p.out_h * p.out_w;
  TENON_CUDA_LOOP(i, p.planes * plane_out) {
    const T* plane = in + i / plane_out * p.in_h * p.in_w;
    const int64_t top = i % plane_out / p.out_w * p.stride_h - p.pad_h,
                  left = i % p.out_w * p.stride_w - p.pad_w;
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

template <class T>
__global__ void backward_kernel(const T* grad, const int64_t* indices, T* out, int64_t n,
                                int64_t plane_out, int64_t plane_in) {
  TENON_CUDA_LOOP(i, n) {
    TENON_KERNEL_CHECK(indices[i] >= 0 && indices[i] < plane_in);
    cuda::atomic_add(out + i / plane_out * plane_in + indices[i], grad[i]);
  }
}

template <class T>
__global__ void gather_kernel(const T* in, const int64_t* indices, T* out, int64_t n,
                              int64_t plane_out, int64_t plane_in) {
  TENON_CUDA_LOOP(i, n) {
    TENON_KERNEL_CHECK(indices[i] >= 0 && indices[i] < plane_in);
    out[i] = in[i / plane_out * plane_in + indices[i]];
  }
}

int64_t plane_of(const TensorBase& t) { return t.size(-1) * t.size(-2); }

}  // namespace

void native::max_pool2d_with_indices_cuda(const Tensor& self, IntArrayRef kernel_size,
                                          IntArrayRef stride, IntArrayRef padding,
                                          IntArrayRef dilation, bool ceil_mode, const Tensor& out,
                                          const Tensor& indices) {
  if (out.numel() == 0) return;
  const Pool2d p =
      meta::pool2d("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode);
  const TensorBase x = cuda::contiguous(self);
  const cuda::DenseOutput y(out), at(indices);
  const cuda::LaunchScope scope(out);
  TENON_DISPATCH_SWITCH(
      self.scalar_type(), "max_pool2d",
      TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
          TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE),
      {
        cuda::launch(forward_kernel<scalar_t>, cuda::blocks_for(out.numel()), cuda::kBlock, 0,
                     scope, x.data_ptr<scalar_t>(), y.data<scalar_t>(), at.data<int64_t>(), p);
      });
  y.finish();
  at.finish();
}

/// 0 but at the maxima, where the gradients of all windows that chose them add up, half types in
/// float.
void native::max_pool2d_with_indices_backward_cuda(const Tensor& grad_output, const Tensor& self,
                                                   IntArrayRef, IntArrayRef, IntArrayRef,
                                                   IntArrayRef, bool, const Tensor& indices,
                                                   const Tensor& grad_input) {
  if (grad_input.numel() == 0) return;
  const ScalarType type = self.scalar_type() == kDouble ? kDouble : kFloat;
  const TensorBase dy = cuda::contiguous(grad_output, type), at = cuda::contiguous(indices, kLong);
  const cuda::DenseOutput dx(grad_input, type);
  const cuda::LaunchScope scope(grad_input);
  TENON_CUDA_CHECK(cudaMemsetAsync(dx.data<void>(), 0, dx.tensor().nbytes(), scope));
  if (dy.numel() > 0) {
    TENON_DISPATCH_FLOATING(type, "max_pool2d_with_indices_backward", {
      cuda::launch(backward_kernel<scalar_t>, cuda::blocks_for(dy.numel()), cuda::kBlock, 0, scope,
                   dy.data_ptr<scalar_t>(), at.data_ptr<int64_t>(), dx.data<scalar_t>(), dy.numel(),
                   plane_of(indices), plane_of(self));
    });
  }
  dx.finish();
}

/// out[..., i] = self[..., indices[i]] with positions counted within a plane.
void native::_max_pool2d_gather_cuda(const Tensor& self, const Tensor& indices, const Tensor& out) {
  if (out.numel() == 0) return;
  const TensorBase x = cuda::contiguous(self), at = cuda::contiguous(indices, kLong);
  const cuda::DenseOutput y(out);
  const cuda::LaunchScope scope(out);
  cuda::dispatch_size(self.element_size(), [&]<class T>() {
    cuda::launch(gather_kernel<T>, cuda::blocks_for(out.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(x.const_data_ptr()), at.data_ptr<int64_t>(), y.data<T>(),
                 out.numel(), plane_of(indices), plane_of(self));
  });
  y.finish();
}

}  // namespace tenon
