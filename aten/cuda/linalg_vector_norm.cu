// (sum |x|^p)^(1/p); max |x| for p = inf, min |x| for -inf, the number of non-zeros for 0. In
// double: squares of floats neither overflow nor vanish there.
#include "tenon/native/linalg_vector_norm.h"

#include <cmath>

#include "aten/common/contiguous.h"
#include "aten/common/dims.h"
#include "aten/cuda/copy.h"
#include "aten/cuda/reduce.cuh"

namespace tenon {
namespace {

template <class T, class Out>
struct NormOp {
  using Acc = double;
  Out* out;
  double p;

  __device__ Acc identity() const { return p == -INFINITY ? INFINITY : 0; }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    double x;
    if constexpr (cuda::kIsComplex<T>) {
      x = hypot(double{value.real()}, double{value.imag()});
    } else {
      x = fabs(cuda::convert<double>(value));
    }
    if (p == 2) return acc + x * x;
    if (isinf(p)) return combine(acc, x);
    return acc + (p == 1 ? x : p == 0 ? (x != 0) : pow(x, p));
  }
  __device__ Acc combine(Acc a, Acc b) const {
    if (!isinf(p)) return a + b;
    if (a != a || b != b) return NAN;
    return p > 0 ? fmax(a, b) : fmin(a, b);
  }
  __device__ void store(int64_t output, Acc acc) const {
    if (p == 2) {
      acc = sqrt(acc);
    } else if (p != 0 && p != 1 && !isinf(p)) {
      acc = pow(acc, 1 / p);
    }
    out[output] = cuda::convert<Out>(acc);
  }
};

}  // namespace

void native::linalg_vector_norm_cuda(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                                     bool, std::optional<ScalarType> dtype, const Tensor& out) {
  const uint64_t mask = dim_mask("linalg_vector_norm", dim, self.dim());
  const TensorBase in = dtype ? native::contiguous(self, *dtype) : TensorBase(self);
  const auto run = [&]<class T>(T) {
    using In = cuda::device_t<T>;
    TENON_DISPATCH_FLOATING_AND_REDUCED(out.scalar_type(), "linalg_vector_norm", {
      if constexpr (std::is_same_v<T, scalar_t> || std::is_same_v<T, std::complex<scalar_t>>) {
        cuda::reduce<In>(
            in, mask,
            NormOp<In, scalar_t>{static_cast<scalar_t*>(out.mutable_data_ptr()), ord.toDouble()});
      }
    });
  };
  TENON_DISPATCH_SWITCH(in.scalar_type(), "linalg_vector_norm",
                        TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
                            TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE)
                                TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE),
                        { run(scalar_t()); });
}

}  // namespace tenon
