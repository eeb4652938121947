// The largest or smallest element: amax, max and their mirrors. NaN counts as larger (smaller) than
// anything.
#include "tenon/native/amax.h"

#include <limits>

#include "aten/common/dims.h"
#include "aten/cuda/reduce.cuh"
#include "tenon/native/amin.h"
#include "tenon/native/max.h"
#include "tenon/native/min.h"

namespace tenon {
namespace {

template <class T, bool kMax>
struct ExtremeOp {
  using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, opmath_type<T>>;
  using Limits = std::numeric_limits<Acc>;
  T* values;

  __device__ Acc identity() const {
    if constexpr (Limits::has_infinity) return kMax ? -Limits::infinity() : Limits::infinity();
    return kMax ? Limits::lowest() : Limits::max();
  }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    return combine(acc, cuda::convert<Acc>(value));
  }
  __device__ Acc combine(Acc a, Acc b) const {
    if (a != a || b != b) return a != a ? a : b;
    return (kMax ? b > a : b < a) ? b : a;
  }
  __device__ void store(int64_t output, Acc acc) const { values[output] = cuda::convert<T>(acc); }
};

void run(const char* op, const Tensor& self, OptionalIntArrayRef dim, bool max, const Tensor& out) {
  const uint64_t mask = native::dim_mask(op, dim, self.dim());
  TENON_DISPATCH_REAL(self.scalar_type(), op, {
    auto* to = static_cast<scalar_t*>(out.mutable_data_ptr());
    if (max) {
      cuda::reduce<scalar_t>(self, mask, ExtremeOp<scalar_t, true>{to});
    } else {
      cuda::reduce<scalar_t>(self, mask, ExtremeOp<scalar_t, false>{to});
    }
  });
}

}  // namespace

void native::amax_cuda(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  run("amax", self, dim, true, out);
}
void native::amin_cuda(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  run("amin", self, dim, false, out);
}
void native::max_cuda(const Tensor& self, const Tensor& out) {
  run("max", self, std::nullopt, true, out);
}
void native::min_cuda(const Tensor& self, const Tensor& out) {
  run("min", self, std::nullopt, false, out);
}

}  // namespace tenon
