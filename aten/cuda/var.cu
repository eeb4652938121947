// Variance and standard deviation.
#include "tenon/native/var.h"

#include "aten/common/dims.h"
#include "aten/cuda/moments.cuh"
#include "aten/cuda/reduce.cuh"
#include "tenon/native/std.h"

namespace tenon {
namespace {

template <class T>
struct VarOp {
  using Acc = cuda::Moments;
  T* out;
  double correction;
  bool root;

  __device__ Acc identity() const { return {0, 0, 0}; }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    return acc.with(cuda::convert<double>(value));
  }
  __device__ Acc combine(Acc a, Acc b) const { return Acc::combine(a, b); }
  __device__ void store(int64_t output, Acc acc) const {
    // No elements, or as many as the correction takes away: 0 / 0.
    const double var = acc.m2 / fmax(0.0, acc.count - correction);
    out[output] = cuda::convert<T>(root ? sqrt(var) : var);
  }
};

void run(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
         bool root, const Tensor& out) {
  const uint64_t mask = native::dim_mask("var", dim, self.dim());
  const double taken = correction ? correction->toDouble() : 1.0;
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "var", {
    cuda::reduce<scalar_t>(
        self, mask, VarOp<scalar_t>{static_cast<scalar_t*>(out.mutable_data_ptr()), taken, root});
  });
}

}  // namespace

void native::var_correction_cuda(const Tensor& self, OptionalIntArrayRef dim,
                                 const std::optional<Scalar>& correction, bool, const Tensor& out) {
  run(self, dim, correction, false, out);
}

void native::std_correction_cuda(const Tensor& self, OptionalIntArrayRef dim,
                                 const std::optional<Scalar>& correction, bool, const Tensor& out) {
  run(self, dim, correction, true, out);
}

}  // namespace tenon
