// Sums and means. Float types are summed in their own type, half types in float, integers in int64.
#include "tenon/native/sum.h"

#include "aten/common/accumulate.h"
#include "aten/common/dims.h"
#include "aten/cuda/reduce.cuh"
#include "tenon/native/mean.h"

namespace tenon {
namespace {

template <class T, class Out>
struct SumOp {
  using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, cuda::opmath_type<T>>;
  Out* out;
  double divisor;  // 1, or the number of elements for a mean

  __device__ Acc identity() const { return Acc(0); }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    return cuda::plus(acc, cuda::convert<Acc>(value));
  }
  __device__ Acc combine(Acc a, Acc b) const { return cuda::plus(a, b); }
  __device__ void store(int64_t output, Acc acc) const {
    if constexpr (!std::is_integral_v<T>) {
      if constexpr (cuda::kIsComplex<Acc>) {
        acc = acc / static_cast<typename Acc::value_type>(divisor);
      } else {
        acc = static_cast<Acc>(acc / divisor);
      }
    }
    out[output] = cuda::convert<Out>(acc);
  }
};

void run(const char* op, const Tensor& self, OptionalIntArrayRef dim, const Tensor& out,
         bool mean) {
  native::accumulate(self, out, [&](const Tensor& in, const Tensor& to) {
    const uint64_t mask = native::dim_mask(op, dim, in.dim());
    const double divisor = mean ? static_cast<double>(in.numel()) /
                                      static_cast<double>(std::max<int64_t>(to.numel(), 1))
                                : 1;
    TENON_DISPATCH_ALL(in.scalar_type(), op, {
      using T = cuda::device_t<scalar_t>;
      using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
      cuda::reduce<T>(in, mask, SumOp<T, Out>{static_cast<Out*>(to.mutable_data_ptr()), divisor});
    });
  });
}

}  // namespace

void native::sum_cuda(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  run("sum", self, std::nullopt, out, false);
}

void native::sum_dim_IntList_cuda(const Tensor& self, OptionalIntArrayRef dim, bool,
                                  std::optional<ScalarType>, const Tensor& out) {
  run("sum", self, dim, out, false);
}

void native::mean_cuda(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  run("mean", self, std::nullopt, out, true);
}

void native::mean_dim_cuda(const Tensor& self, OptionalIntArrayRef dim, bool,
                           std::optional<ScalarType>, const Tensor& out) {
  run("mean", self, dim, out, true);
}

}  // namespace tenon
