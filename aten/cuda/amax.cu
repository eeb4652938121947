// The largest or smallest element and where it first is: amax, max, max.dim, argmax and their
// mirrors. NaN counts as larger (smaller) than anything.
#include "tenon/native/amax.h"

#include "aten/common/dims.h"
#include "aten/cuda/reduce.cuh"
#include "tenon/native/amin.h"
#include "tenon/native/argmax.h"
#include "tenon/native/argmin.h"
#include "tenon/native/max.h"
#include "tenon/native/min.h"

namespace tenon {
namespace {

template <class T, bool kMax>
struct ExtremeOp {
  using V = std::conditional_t<std::is_integral_v<T>, int64_t, opmath_t<T>>;
  // In place of padding: blocks leave accumulators in memory, and runs are compared byte by byte.
  struct Filler {
    uint32_t bits;
  };
  struct Nothing {};
  struct Acc {
    V value;
    [[no_unique_address]] std::conditional_t<sizeof(V) == 4, Filler, Nothing> filler;
    int64_t index;  // -1: nothing yet
  };
  T* values;  // either may be null
  int64_t* indices;

  __device__ Acc identity() const { return {V(0), {}, -1}; }
  __device__ Acc step(Acc acc, T value, int64_t index) const {
    return combine(acc, Acc{cuda::convert<V>(value), {}, index});
  }
  __device__ Acc combine(Acc a, Acc b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan || b_nan) return a_nan && (!b_nan || a.index < b.index) ? a : b;
    if (a.value == b.value) return a.index < b.index ? a : b;
    return (kMax ? a.value > b.value : a.value < b.value) ? a : b;
  }
  __device__ void store(int64_t output, Acc acc) const {
    if (values) values[output] = cuda::convert<T>(acc.value);
    if (indices) indices[output] = acc.index;
  }
};

void run(const char* op, const Tensor& self, OptionalIntArrayRef dim, bool max,
         const Tensor* values, const Tensor* indices) {
  const uint64_t mask = native::dim_mask(op, dim, self.dim());
  auto* at = indices ? static_cast<int64_t*>(indices->mutable_data_ptr()) : nullptr;
  TENON_DISPATCH_REAL(self.scalar_type(), op, {
    auto* to = values ? static_cast<scalar_t*>(values->mutable_data_ptr()) : nullptr;
    if (max) {
      cuda::reduce<scalar_t>(self, mask, ExtremeOp<scalar_t, true>{to, at});
    } else {
      cuda::reduce<scalar_t>(self, mask, ExtremeOp<scalar_t, false>{to, at});
    }
  });
}

OptionalIntArrayRef as_list(const std::optional<int64_t>& dim) {
  return dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef();
}

}  // namespace

void native::amax_cuda(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  run("amax", self, dim, true, &out, nullptr);
}
void native::amin_cuda(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  run("amin", self, dim, false, &out, nullptr);
}
void native::max_cuda(const Tensor& self, const Tensor& out) {
  run("max", self, std::nullopt, true, &out, nullptr);
}
void native::min_cuda(const Tensor& self, const Tensor& out) {
  run("min", self, std::nullopt, false, &out, nullptr);
}
void native::max_dim_cuda(const Tensor& self, int64_t dim, bool, const Tensor& values,
                          const Tensor& indices) {
  run("max", self, dim, true, &values, &indices);
}
void native::min_dim_cuda(const Tensor& self, int64_t dim, bool, const Tensor& values,
                          const Tensor& indices) {
  run("min", self, dim, false, &values, &indices);
}
void native::argmax_cuda(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) {
  run("argmax", self, as_list(dim), true, nullptr, &out);
}
void native::argmin_cuda(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) {
  run("argmin", self, as_list(dim), false, nullptr, &out);
}

}  // namespace tenon
