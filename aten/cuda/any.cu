// Whether any or all elements are true, that is, not 0; NaN is true.
#include "tenon/native/any.h"

#include "aten/common/dims.h"
#include "aten/cuda/reduce.cuh"
#include "tenon/native/all.h"

namespace tenon {
namespace {

template <class T, bool kAny>
struct LogicOp {
  using Acc = int;
  uint8_t* out;  // Bool and Byte outputs hold 0 and 1 alike

  __device__ Acc identity() const { return kAny ? 0 : 1; }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    return combine(acc, cuda::convert<bool>(value));
  }
  __device__ Acc combine(Acc a, Acc b) const { return kAny ? a | b : a & b; }
  __device__ void store(int64_t output, Acc acc) const { out[output] = static_cast<uint8_t>(acc); }
};

// An empty list of dims reduces nothing here: that is what `any.dims` with dim=[] means in PyTorch.
void run(const char* op, const Tensor& self, OptionalIntArrayRef dim, bool any, const Tensor& out) {
  const uint64_t mask = native::dim_mask(op, dim, self.dim(), false);
  auto* to = static_cast<uint8_t*>(out.mutable_data_ptr());
  TENON_DISPATCH_ALL(self.scalar_type(), op, {
    using T = cuda::device_t<scalar_t>;
    if (any) {
      cuda::reduce<T>(self, mask, LogicOp<T, true>{to});
    } else {
      cuda::reduce<T>(self, mask, LogicOp<T, false>{to});
    }
  });
}

}  // namespace

void native::any_cuda(const Tensor& self, const Tensor& out) {
  run("any", self, std::nullopt, true, out);
}
void native::any_dim_cuda(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  run("any", self, dim, true, out);
}
void native::any_dims_cuda(const Tensor& self, OptionalIntArrayRef dim, bool, const Tensor& out) {
  run("any", self, dim, true, out);
}
void native::all_cuda(const Tensor& self, const Tensor& out) {
  run("all", self, std::nullopt, false, out);
}
void native::all_dim_cuda(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  run("all", self, dim, false, out);
}
void native::all_dims_cuda(const Tensor& self, OptionalIntArrayRef dim, bool, const Tensor& out) {
  run("all", self, dim, false, out);
}

}  // namespace tenon
