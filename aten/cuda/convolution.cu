// Convolution of 1 to 3 spatial dimensions and its gradients, by im2col and matrix products: a
// piece of the batch is unfolded to [groups, taps, batch * out], so that each group is one product.
// Of floating-point and complex numbers and of int64, which wraps around.
#include "aten/common/conv_geometry.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/gemm.h"
#include "aten/cuda/launch.h"
#include "aten/meta/convolution.h"
#include "tenon/native/convolution.h"
#include "tenon/native/convolution_backward.h"
#include "tenon/native/sum.h"
#include "tenon/ops/conj_physical.h"

namespace tenon {
namespace {

using native::ConvGeometry;

constexpr int64_t kColumnBytes = int64_t{256} << 20;

/// A geometry as kernels take it: plain members only.
struct Shape {
  int64_t batch, channels, outputs, groups;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  int64_t in_size, out_size, kernel_size;

  explicit Shape(const ConvGeometry& g)
      : batch(g.batch), channels(g.channels), outputs(g.outputs), groups(g.groups),
        in_size(g.in_size()), out_size(g.out_size()), kernel_size(g.kernel_size()) {
    for (size_t d = 0; d < 3; ++d) {
      in[d] = g.in[d];
      out[d] = g.out[d];
      kernel[d] = g.kernel[d];
      stride[d] = g.stride[d];
      padding[d] = g.padding[d];
      dilation[d] = g.dilation[d];
    }
  }
  int64_t taps() const { return channels / groups * kernel_size; }
  int64_t rows() const { return outputs / groups; }
  /// Samples that are unfolded at a time.
  int64_t piece(size_t item) const {
    const int64_t one =
        std::max<int64_t>(channels * kernel_size * out_size * static_cast<int64_t>(item), 1);
    return std::clamp<int64_t>(kColumnBytes / one, 1, batch);
  }
};

/// Three sizes that an index is taken apart by.
struct Triple {
  cuda::Extent first, second, third;

  Triple(const int64_t (&sizes)[3], int64_t limit)
      : first(sizes[0], limit), second(sizes[1], limit), third(sizes[2], limit) {}
  __device__ __forceinline__ void take(int64_t& index, int64_t (&at)[3]) const {
    at[2] = third.take(index);
    at[1] = second.take(index);
    at[0] = first.take(index);
  }
};

#define TENON_DISPATCH_CONVOLUTION(type, name, ...)                                \
  TENON_DISPATCH_SWITCH(type, name,                                                \
                        TENON_DISPATCH_CASE(int64_t, Long)                         \
                            TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)             \
                                TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE) \
                                    TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE),     \
                        __VA_ARGS__)

/// columns[c][k][n][o] = src[n][c][o stride - padding + k dilation], 0 outside
template <class T>
__global__ void unfold_kernel(const T* src, T* columns, int64_t numel, cuda::Extent batch,
                              const __grid_constant__ Triple out,
                              const __grid_constant__ Triple kernel,
                              const __grid_constant__ Shape s) {
  TENON_CUDA_LOOP(i, numel) {
    int64_t c = i, to[3], at[3], offset = 0;
    out.take(c, to);
    const int64_t n = batch.take(c);
    kernel.take(c, at);
    bool inside = true;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const int64_t x = to[d] * s.stride[d] - s.padding[d] + at[d] * s.dilation[d];
      inside &= x >= 0 && x < s.in[d];
      offset = offset * s.in[d] + x;
    }
    columns[i] = inside ? src[(n * s.channels + c) * s.in_size + offset] : T{};
  }
}

/// The transpose of unfold_kernel: every element of src adds up the columns that were taken from
/// it, and a bias, which may be null.
template <class T>
__global__ void fold_kernel(const T* columns, const T* bias, T* src, int64_t batch,
                            cuda::Extent channels, const __grid_constant__ Triple in,
                            const __grid_constant__ Triple stride,
                            const __grid_constant__ Shape s) {
  using V = cuda::opmath_type<T>;
  TENON_CUDA_LOOP(i, batch * s.channels * s.in_size) {
    int64_t n = i, from[3];
    in.take(n, from);
    const int64_t c = channels.take(n);
    V sum(0);
    int64_t tap = c * s.kernel_size;
    for (int64_t k0 = 0; k0 < s.kernel[0]; ++k0) {
      for (int64_t k1 = 0; k1 < s.kernel[1]; ++k1) {
        for (int64_t k2 = 0; k2 < s.kernel[2]; ++k2, ++tap) {
          int64_t x[3] = {from[0] + s.padding[0] - k0 * s.dilation[0],
                          from[1] + s.padding[1] - k1 * s.dilation[1],
                          from[2] + s.padding[2] - k2 * s.dilation[2]};
          // The index is taken apart where it is known to be one.
          if (x[0] < 0 || x[1] < 0 || x[2] < 0) continue;
          if (stride.first.take(x[0]) != 0 || stride.second.take(x[1]) != 0 ||
              stride.third.take(x[2]) != 0)
            continue;
          if (x[0] >= s.out[0] || x[1] >= s.out[1] || x[2] >= s.out[2]) continue;
          const int64_t o = (x[0] * s.out[1] + x[1]) * s.out[2] + x[2];
          sum = cuda::plus(sum, cuda::convert<V>(columns[(tap * batch + n) * s.out_size + o]));
        }
      }
    }
    if (bias) sum = cuda::plus(sum, cuda::convert<V>(bias[c]));
    src[i] = cuda::convert<T>(sum);
  }
}

/// dst[n][c][o] = result[c][n][o] + bias[c]; bias may be null.
template <class T>
__global__ void deliver_kernel(const T* result, const T* bias, T* dst, int64_t batch,
                               cuda::Extent channels, cuda::Extent size) {
  using V = cuda::opmath_type<T>;
  TENON_CUDA_LOOP(i, batch * channels.size * size.size) {
    int64_t n = i;
    const int64_t o = size.take(n), c = channels.take(n);
    const T value = result[(c * batch + n) * size.size + o];
    dst[i] = bias ? cuda::convert<T>(cuda::plus(cuda::convert<V>(value), cuda::convert<V>(bias[c])))
                  : value;
  }
}

/// Data as kernels see it; null if undefined.
template <class T>
T* data_of(const TensorBase& t) {
  return t.defined() ? static_cast<T*>(t.mutable_data_ptr()) : nullptr;
}

/// The samples [start, start + count) of a contiguous tensor.
TensorBase samples(const TensorBase& t, int64_t start, int64_t count) {
  const TensorBase part = make_detached(t);
  TensorImpl& p = *part.unsafe_impl();
  DimVector sizes(t.sizes());
  sizes[0] = count;
  p.storage_offset += start * t.stride(0);
  p.set_sizes_and_strides(sizes, t.strides());
  p.refresh_data();
  return part;
}

/// [n, channels, size] as a contiguous [channels, n, size].
TensorBase channels_first(const TensorBase& t) {
  const int64_t n = t.size(0), channels = t.size(1), size = t.numel() / (n * channels);
  const TensorBase view = make_detached(t);
  view.unsafe_impl()->set_sizes_and_strides({channels, n, size}, {size, channels * size, 1});
  return native::contiguous(view);
}

TensorBase unfolded(const Shape& s, const TensorBase& src, CUstream_st* stream) {
  const int64_t batch = src.size(0), numel = s.channels * s.kernel_size * batch * s.out_size;
  const TensorBase columns =
      empty({s.groups, s.taps(), batch * s.out_size}, src.scalar_type(), src.device());
  cuda::dispatch_size(src.element_size(), [&]<class T>() {
    cuda::launch(unfold_kernel<T>, cuda::blocks_for(numel), cuda::kBlock, 0, stream,
                 data_of<const T>(src), data_of<T>(columns), numel, cuda::Extent(batch, numel),
                 Triple(s.out, numel), Triple(s.kernel, numel), s);
  });
  return columns;
}

cuda::MatrixBatch matrices(const TensorBase& t, int64_t rows, int64_t columns) {
  return {t.mutable_data_ptr(), rows * columns, columns, 1};
}

/// dst = src * weight + bias; all contiguous, bias may be undefined.
void forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
             const TensorBase& bias, const TensorBase& dst) {
  const Shape s(g);
  const cuda::LaunchScope scope(dst);
  const int64_t step = s.piece(src.element_size());
  for (int64_t start = 0; start < s.batch; start += step) {
    const int64_t count = std::min(step, s.batch - start), width = count * s.out_size;
    const TensorBase columns = unfolded(s, samples(src, start, count), scope);
    const TensorBase result =
        empty({s.outputs, count, s.out_size}, dst.scalar_type(), dst.device());
    cuda::matrix_product("convolution", dst.scalar_type(), {s.groups, s.rows(), width, s.taps()}, 1,
                         matrices(weight, s.rows(), s.taps()), matrices(columns, s.taps(), width),
                         0, matrices(result, s.rows(), width), dst.device());
    const TensorBase part = samples(dst, start, count);
    TENON_DISPATCH_CONVOLUTION(dst.scalar_type(), "convolution", {
      using T = cuda::device_t<scalar_t>;
      cuda::launch(deliver_kernel<T>, cuda::blocks_for(part.numel()), cuda::kBlock, 0, scope,
                   data_of<const T>(result), data_of<const T>(bias), data_of<T>(part), count,
                   cuda::Extent(s.outputs, part.numel()), cuda::Extent(s.out_size, part.numel()));
    });
  }
}

/// diff_src: the gradient of src, or the transposed convolution of diff_dst, to which a bias is
/// added, where there is one; all contiguous.
void backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                   const TensorBase& bias, const TensorBase& diff_dst) {
  const Shape s(g);
  const cuda::LaunchScope scope(diff_src);
  const int64_t step = s.piece(diff_src.element_size());
  for (int64_t start = 0; start < s.batch; start += step) {
    const int64_t count = std::min(step, s.batch - start), width = count * s.out_size;
    const TensorBase dy = channels_first(samples(diff_dst, start, count));
    const TensorBase columns = empty({s.groups, s.taps(), width}, dy.scalar_type(), dy.device());
    cuda::matrix_product("convolution", dy.scalar_type(), {s.groups, s.taps(), width, s.rows()}, 1,
                         matrices(weight, s.rows(), s.taps()).transposed(),
                         matrices(dy, s.rows(), width), 0, matrices(columns, s.taps(), width),
                         dy.device());
    const TensorBase part = samples(diff_src, start, count);
    // Positions in the padded input, which strides divide, are below this, too.
    int64_t limit = part.numel();
    for (int d = 0; d < 3; ++d) limit = std::max(limit, s.in[d] + s.padding[d]);
    TENON_DISPATCH_CONVOLUTION(dy.scalar_type(), "convolution_backward", {
      using T = cuda::device_t<scalar_t>;
      cuda::launch(fold_kernel<T>, cuda::blocks_for(part.numel()), cuda::kBlock, 0, scope,
                   data_of<const T>(columns), data_of<const T>(bias), data_of<T>(part), count,
                   cuda::Extent(s.channels, limit), Triple(s.in, limit), Triple(s.stride, limit),
                   s);
    });
  }
}

/// diff_weight: the gradient of weight; all contiguous.
void backward_weight(const ConvGeometry& g, const TensorBase& src, const TensorBase& diff_weight,
                     const TensorBase& diff_dst) {
  const Shape s(g);
  const cuda::LaunchScope scope(diff_weight);
  const int64_t step = s.piece(src.element_size());
  for (int64_t start = 0; start < s.batch; start += step) {
    const int64_t count = std::min(step, s.batch - start), width = count * s.out_size;
    const TensorBase columns = unfolded(s, samples(src, start, count), scope);
    const TensorBase dy = channels_first(samples(diff_dst, start, count));
    cuda::matrix_product("convolution", dy.scalar_type(), {s.groups, s.rows(), s.taps(), width}, 1,
                         matrices(dy, s.rows(), width),
                         matrices(columns, s.taps(), width).transposed(), start == 0 ? 0 : 1,
                         matrices(diff_weight, s.rows(), s.taps()), dy.device());
  }
}

TensorBase like(const TensorBase& t) { return empty(t.sizes(), t.scalar_type(), t.device()); }

void set_zero(const TensorBase& t) {
  if (t.nbytes() == 0) return;
  const cuda::LaunchScope scope(t);
  TENON_CUDA_CHECK(cudaMemsetAsync(t.mutable_data_ptr(), 0, t.nbytes(), scope));
}

/// The complex conjugate, what gradients are multiplied by.
TensorBase conjugate(const TensorBase& t) {
  return t.is_complex() ? TensorBase(ops::conj_physical::call(Tensor(t))) : t;
}

}  // namespace

void native::convolution_cuda(const Tensor& input, const Tensor& weight,
                              const std::optional<Tensor>& bias, IntArrayRef stride,
                              IntArrayRef padding, IntArrayRef dilation, bool transposed,
                              IntArrayRef, int64_t groups, const Tensor& out) {
  if (out.numel() == 0) return;
  const TensorBase x = native::contiguous(input), w = native::contiguous(weight);
  const TensorBase b = bias && bias->defined() ? native::contiguous(*bias) : TensorBase();
  const native::ContiguousOutput result(out);
  const TensorBase& y = result.tensor();
  if (transposed) {
    backward_data(conv_geometry(y, w, x, stride, padding, dilation, groups), y, w, b, x);
  } else {
    forward(conv_geometry(x, w, y, stride, padding, dilation, groups), x, w, b, y);
  }
  result.copy_back();
}

/// Gradients of input, weight and bias; only those in the mask are computed.
std::tuple<Tensor, Tensor, Tensor> native::convolution_backward_cuda(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight, OptionalIntArrayRef,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  meta::check_convolution_backward(grad_output, input, weight, stride, padding, dilation,
                                   transposed, output_padding, groups);
  const TensorBase x = native::contiguous(input), w = native::contiguous(weight),
                   dy = native::contiguous(grad_output);
  std::tuple<Tensor, Tensor, Tensor> grads;
  auto& [grad_input, grad_weight, grad_bias] = grads;
  if (output_mask[0]) grad_input = like(x);
  if (output_mask[1]) grad_weight = like(w);
  if (output_mask[2]) grad_bias = empty(dy.size(1), w.scalar_type(), w.device());
  if (dy.numel() == 0 || x.numel() == 0) {
    for (const Tensor* t : {&grad_input, &grad_weight, &grad_bias}) {
      if (t->defined()) set_zero(*t);
    }
    return grads;
  }
  if (output_mask[2]) {
    DimVector others{0};
    for (int64_t d = 2; d < dy.dim(); ++d) others.push_back(d);
    native::sum_dim_IntList_cuda(dy, IntArrayRef(others), false, std::nullopt, grad_bias);
  }
  const ConvGeometry g = transposed ? conv_geometry(dy, w, x, stride, padding, dilation, groups)
                                    : conv_geometry(x, w, dy, stride, padding, dilation, groups);
  if (output_mask[0]) {
    const TensorBase factor = conjugate(w), none;
    transposed ? forward(g, dy, factor, none, grad_input)
               : backward_data(g, grad_input, factor, none, dy);
  }
  if (output_mask[1]) {
    const TensorBase factor = conjugate(x);
    transposed ? backward_weight(g, dy, grad_weight, factor)
               : backward_weight(g, factor, grad_weight, dy);
  }
  return grads;
}

}  // namespace tenon
