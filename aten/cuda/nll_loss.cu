// Negative log-likelihood: loss_i = -weight[t_i] x[i, t_i], 0 where t_i is ignore_index. The mean
// divides by total_weight, the sum of the weights of what was not ignored. Half types in float.
#include "aten/common/contiguous.h"
#include "aten/cuda/atomic.cuh"
#include "aten/cuda/reduce.cuh"
#include "tenon/native/nll_loss_backward.h"
#include "tenon/native/nll_loss_forward.h"

namespace tenon {
namespace {

struct Sizes {
  int64_t rows, classes, ignored;

  Sizes(const TensorBase& self, int64_t ignore_index)
      : rows(self.dim() == 2 ? self.size(0) : 1), classes(self.size(-1)), ignored(ignore_index) {}

  /// The class of a target; -1 if it is to be ignored.
  __device__ int64_t class_of(int64_t target) const {
    if (target == ignored) return -1;
    TENON_KERNEL_CHECK(target >= 0 && target < classes);
    return target;
  }
};

template <class T, class V>
__global__ void each_kernel(const T* in, const int64_t* targets, const V* weights, T* out,
                            Sizes s) {
  TENON_CUDA_LOOP(i, s.rows) {
    const int64_t k = s.class_of(targets[i]);
    const V loss =
        k < 0 ? V(0) : -(weights ? weights[k] : V(1)) * cuda::convert<V>(in[i * s.classes + k]);
    out[i] = cuda::convert<T>(loss);
  }
}

/// Reduces the targets to the sums of losses and of weights.
template <class T, class V>
struct TotalOp {
  struct Acc {
    double loss, weight;
  };
  const T* in;
  const V* weights;  // may be null
  T *out, *total;
  Sizes s;
  bool mean;

  __device__ Acc identity() const { return {0, 0}; }
  __device__ Acc step(Acc acc, int64_t target, int64_t i) const {
    const int64_t k = s.class_of(target);
    if (k < 0) return acc;
    const V scale = weights ? weights[k] : V(1);
    return {acc.loss - scale * cuda::convert<V>(in[i * s.classes + k]), acc.weight + scale};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    return {a.loss + b.loss, a.weight + b.weight};
  }
  __device__ void store(int64_t, const Acc& acc) const {
    // Nothing to average gives 0 / 0, NaN, as in PyTorch.
    *out = cuda::convert<T>(mean ? acc.loss / acc.weight : acc.loss);
    *total = cuda::convert<T>(acc.weight);
  }
};

template <class T, class V>
__global__ void backward_kernel(const T* grad, const int64_t* targets, const V* weights,
                                const T* total, T* out, Sizes s, bool each) {
  TENON_CUDA_LOOP(i, s.rows) {
    const int64_t k = s.class_of(targets[i]);
    if (k < 0) continue;
    const V divisor = total ? cuda::convert<V>(*total) : V(1);
    out[i * s.classes + k] = cuda::convert<T>(-(weights ? weights[k] : V(1)) *
                                              cuda::convert<V>(grad[each ? i : 0]) / divisor);
  }
}

/// The weights in the type losses are computed in, or undefined.
TensorBase weights_of(const std::optional<Tensor>& weight) {
  if (!weight || !weight->defined()) return {};
  return native::contiguous(*weight, weight->scalar_type() == kDouble ? kDouble : kFloat);
}

}  // namespace

void native::nll_loss_forward_cuda(const Tensor& self, const Tensor& target,
                                   const std::optional<Tensor>& weight, int64_t reduction,
                                   int64_t ignore_index, const Tensor& output,
                                   const Tensor& total_weight) {
  const TensorBase x = native::contiguous(self), t = native::contiguous(target, kLong),
                   w = weights_of(weight);
  const native::ContiguousOutput out(output), total(total_weight);
  const Sizes s(self, ignore_index);
  const bool each = reduction == 0 && self.dim() == 2;
  const cuda::LaunchScope scope(self);
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "nll_loss", {
    using V = opmath_type<scalar_t>;
    const V* weights = w.defined() ? w.data_ptr<V>() : nullptr;
    if (each) {
      cuda::launch(each_kernel<scalar_t, V>, cuda::blocks_for(s.rows), cuda::kBlock, 0, scope,
                   x.data_ptr<scalar_t>(), t.data_ptr<int64_t>(), weights, out.data<scalar_t>(), s);
      TENON_CUDA_CHECK(cudaMemsetAsync(total.data<void>(), 0, sizeof(scalar_t), scope));
    } else {
      cuda::reduce<int64_t>(t, (uint64_t{1} << t.dim()) - 1,
                            TotalOp<scalar_t, V>{x.data_ptr<scalar_t>(), weights,
                                                 out.data<scalar_t>(), total.data<scalar_t>(), s,
                                                 reduction == Reduction::Mean});
    }
  });
  out.copy_back();
  total.copy_back();
}

void native::nll_loss_backward_cuda(const Tensor& grad_output, const Tensor& self,
                                    const Tensor& target, const std::optional<Tensor>& weight,
                                    int64_t reduction, int64_t ignore_index,
                                    const Tensor& total_weight, const Tensor& grad_input) {
  if (self.numel() == 0) return;
  const TensorBase g = native::contiguous(grad_output, self.scalar_type()),
                   t = native::contiguous(target, kLong);
  const TensorBase w = weights_of(weight),
                   total = native::contiguous(total_weight, self.scalar_type());
  const native::ContiguousOutput out(grad_input, self.scalar_type());
  const Sizes s(self, ignore_index);
  const cuda::LaunchScope scope(self);
  TENON_CUDA_CHECK(cudaMemsetAsync(out.data<void>(), 0, out.tensor().nbytes(), scope));
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "nll_loss_backward", {
    using V = opmath_type<scalar_t>;
    cuda::launch(backward_kernel<scalar_t, V>, cuda::blocks_for(s.rows), cuda::kBlock, 0, scope,
                 g.data_ptr<scalar_t>(), t.data_ptr<int64_t>(),
                 w.defined() ? w.data_ptr<V>() : nullptr,
                 reduction == Reduction::Mean ? total.data_ptr<scalar_t>() : nullptr,
                 out.data<scalar_t>(), s, reduction == Reduction::None && self.dim() == 2);
  });
  out.copy_back();
}

}  // namespace tenon
