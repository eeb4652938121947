// Averages over windows of planes: avg_pool2d and adaptive average pooling, and their gradients,
// which gather from the windows that hold an element; half types in float, int64 rounded to zero.
#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/launch.h"
#include "aten/meta/pooling.h"
#include "tenon/native/_adaptive_avg_pool2d.h"
#include "tenon/native/_adaptive_avg_pool2d_backward.h"
#include "tenon/native/avg_pool2d.h"
#include "tenon/native/avg_pool2d_backward.h"

namespace tenon {
namespace {

/// Along one dimension: the input positions [begin, end) of a window, and how many it counts with
/// padding.
struct Span {
  int64_t begin, end, padded;
};

/// Windows of a fixed size along one dimension.
struct FixedWindows {
  int64_t in, out, kernel, stride, pad;

  __device__ Span span(int64_t o) const {
    const int64_t begin = o * stride - pad, end = min(begin + kernel, in + pad);
    return {max(begin, int64_t{0}), min(end, in), end - begin};
  }
  /// The windows [first, last) that may hold input position i.
  __device__ void holders(int64_t i, int64_t& first, int64_t& last) const {
    const int64_t beyond =
        i + pad - kernel;  // the last window that ends before i starts here or earlier
    first = beyond < 0 ? 0 : beyond / stride + 1;
    last = min((i + pad) / stride + 1, out);
  }
};

/// Window o covers [floor(o in / out), ceil((o + 1) in / out)).
struct AdaptiveWindows {
  int64_t in, out;

  __device__ Span span(int64_t o) const {
    const int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
    return {begin, end, end - begin};
  }
  __device__ void holders(int64_t i, int64_t& first, int64_t& last) const {
    first = i * out / in;
    last = min(((i + 1) * out + in - 1) / in, out);
  }
};

template <class Windows>
struct Average {
  Windows h, w;
  bool include_pad;
  int64_t divisor;  // 0: the number of elements

  __device__ int64_t divisor_of(const Span& a, const Span& b) const {
    if (divisor != 0) return divisor;
    return include_pad ? a.padded * b.padded : (a.end - a.begin) * (b.end - b.begin);
  }
};

template <class T, class Windows>
__global__ void forward_kernel(const T* in, T* out, int64_t n,
                               const __grid_constant__ Average<Windows> p, cuda::Extent rows,
                               cuda::Extent columns) {
  using V = cuda::opmath_type<T>;
  TENON_CUDA_LOOP(i, n) {
    int64_t rest = i;
    const Span b = p.w.span(columns.take(rest)), a = p.h.span(rows.take(rest));
    const T* plane = in + rest * p.h.in * p.w.in;
    V sum = 0;
    for (int64_t y = a.begin; y < a.end; ++y) {
      for (int64_t x = b.begin; x < b.end; ++x) sum += cuda::convert<V>(plane[y * p.w.in + x]);
    }
    const bool empty = a.begin >= a.end || b.begin >= b.end;
    out[i] = cuda::convert<T>(empty ? V(0) : sum / static_cast<V>(p.divisor_of(a, b)));
  }
}

template <class T, class Windows>
__global__ void backward_kernel(const T* grad, T* out, int64_t n,
                                const __grid_constant__ Average<Windows> p, cuda::Extent rows,
                                cuda::Extent columns) {
  using V = cuda::opmath_type<T>;
  TENON_CUDA_LOOP(i, n) {
    int64_t rest = i;
    const int64_t x = columns.take(rest), y = rows.take(rest);
    const T* plane = grad + rest * p.h.out * p.w.out;
    int64_t h0, h1, w0, w1;
    p.h.holders(y, h0, h1);
    p.w.holders(x, w0, w1);
    V sum = 0;
    for (int64_t h = h0; h < h1; ++h) {
      const Span a = p.h.span(h);
      if (y < a.begin || y >= a.end) continue;
      for (int64_t w = w0; w < w1; ++w) {
        const Span b = p.w.span(w);
        if (x < b.begin || x >= b.end) continue;
        sum += cuda::convert<V>(plane[h * p.w.out + w]) / static_cast<V>(p.divisor_of(a, b));
      }
    }
    out[i] = cuda::convert<T>(sum);
  }
}

template <class Windows>
void run(const char* op, const Average<Windows>& p, const TensorBase& from, const TensorBase& to,
         bool backward) {
  if (to.numel() == 0) return;
  const TensorBase x = native::contiguous(from);
  const native::ContiguousOutput y(to);
  const cuda::LaunchScope scope(to);
  const unsigned blocks = cuda::blocks_for(to.numel());
  const cuda::Extent rows(to.size(-2), to.numel()), columns(to.size(-1), to.numel());
  const auto launch = [&]<class T>(auto kernel, T*) {
    cuda::launch(kernel, blocks, cuda::kBlock, 0, scope, x.data_ptr<T>(), y.data<T>(), to.numel(),
                 p, rows, columns);
  };
  if (to.scalar_type() == kLong && !backward) {
    launch(forward_kernel<int64_t, Windows>, static_cast<int64_t*>(nullptr));
  } else {
    TENON_DISPATCH_FLOATING_AND_REDUCED(to.scalar_type(), op, {
      launch(backward ? backward_kernel<scalar_t, Windows> : forward_kernel<scalar_t, Windows>,
             static_cast<scalar_t*>(nullptr));
    });
  }
  y.copy_back();
}

Average<FixedWindows> fixed(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                            IntArrayRef padding, bool ceil_mode, bool include_pad,
                            std::optional<int64_t> divisor) {
  const meta::Pool2d p =
      meta::pool2d("avg_pool2d", self, kernel_size, stride, padding, 1, ceil_mode);
  return {{p.in_h, p.out_h, p.kernel_h, p.stride_h, p.pad_h},
          {p.in_w, p.out_w, p.kernel_w, p.stride_w, p.pad_w},
          include_pad,
          divisor.value_or(0)};
}

Average<AdaptiveWindows> adaptive(const TensorBase& input, const TensorBase& output) {
  return {{input.size(-2), output.size(-2)}, {input.size(-1), output.size(-1)}, false, 0};
}

}  // namespace

void native::avg_pool2d_cuda(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                             IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                             std::optional<int64_t> divisor_override, const Tensor& out) {
  run("avg_pool2d",
      fixed(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
      self, out, false);
}

void native::avg_pool2d_backward_cuda(const Tensor& grad_output, const Tensor& self,
                                      IntArrayRef kernel_size, IntArrayRef stride,
                                      IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                      std::optional<int64_t> divisor_override,
                                      const Tensor& grad_input) {
  run("avg_pool2d_backward",
      fixed(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
      grad_output, grad_input, true);
}

void native::_adaptive_avg_pool2d_cuda(const Tensor& self, IntArrayRef, const Tensor& out) {
  run("adaptive_avg_pool2d", adaptive(self, out), self, out, false);
}

void native::_adaptive_avg_pool2d_backward_cuda(const Tensor& grad_output, const Tensor& self,
                                                const Tensor& grad_input) {
  run("adaptive_avg_pool2d_backward", adaptive(self, grad_output), grad_output, grad_input, true);
}

}  // namespace tenon
