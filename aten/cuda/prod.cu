// Products. Half types are multiplied in float, integers in int64.
#include "tenon/native/prod.h"

#include "aten/common/accumulate.h"
#include "aten/common/dims.h"
#include "aten/cuda/reduce.cuh"

namespace tenon {
namespace {

template <class T, class Out>
struct ProdOp {
  using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, cuda::opmath_type<T>>;
  Out* out;

  __device__ Acc identity() const { return Acc(1); }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    return cuda::times(acc, cuda::convert<Acc>(value));
  }
  __device__ Acc combine(Acc a, Acc b) const { return cuda::times(a, b); }
  __device__ void store(int64_t output, Acc acc) const { out[output] = cuda::convert<Out>(acc); }
};

void run(const Tensor& self, OptionalIntArrayRef dim, const Tensor& out) {
  native::accumulate(self, out, [&](const Tensor& in, const Tensor& to) {
    const uint64_t mask = native::dim_mask("prod", dim, in.dim());
    TENON_DISPATCH_ALL(in.scalar_type(), "prod", {
      using T = cuda::device_t<scalar_t>;
      using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
      cuda::reduce<T>(in, mask, ProdOp<T, Out>{static_cast<Out*>(to.mutable_data_ptr())});
    });
  });
}

}  // namespace

void native::prod_cuda(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  run(self, std::nullopt, out);
}

void native::prod_dim_int_cuda(const Tensor& self, int64_t dim, bool, std::optional<ScalarType>,
                               const Tensor& out) {
  run(self, dim, out);
}

}  // namespace tenon
