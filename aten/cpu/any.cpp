#include "tenon/native/any.h"

#include "aten/common/dims.h"
#include "aten/common/opmath_type.h"
#include "aten/cpu/reduce.h"
#include "tenon/native/all.h"
#include "tenon/ops/to.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/any.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// Bit 0: an element is true; bit 1: one is false. So the same loops serve any and all. The
/// accumulator is a byte because loops over bool do not vectorise.
template <class T>
struct LogicOp {
  using In = opmath_type<T>;
  using Acc = uint8_t;
  using Out = uint8_t;
  static constexpr bool kCascade = false;
  static HWY_INLINE Acc load(In x) { return x != In(0) ? 1 : 2; }
  static HWY_INLINE Acc combine(Acc a, Acc b) { return a | b; }
  static HWY_INLINE Acc identity() { return 0; }
  static HWY_INLINE Out finish(Acc a, const ReduceContext& context) {
    return context.logic == Logic::kAll ? (a >> 1) ^ 1 : a & 1;
  }
};

const ReduceLoops* logic_loops(ScalarType type, const char* op) {
  return TENON_DISPATCH_ALL(type, op, { return &kLoops<LogicOp<scalar_t>, scalar_t>; });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace native {
HWY_EXPORT(logic_loops);
}  // namespace native

namespace {

// An empty list of dims reduces nothing here: that is what `any.dims` with dim=[] means in PyTorch.
void logic(const char* op, const Tensor& self, OptionalIntArrayRef dim, native::Logic which,
           const Tensor& out) {
  using namespace native;
  reduce(self, dim_mask(op, dim, self.dim(), false), out,
         *HWY_DYNAMIC_DISPATCH(logic_loops)(self.scalar_type(), op), {.logic = which});
}

void any(const Tensor& self, OptionalIntArrayRef dim, const Tensor& out) {
  logic("any", self, dim, native::Logic::kAny, out);
}

void all(const Tensor& self, OptionalIntArrayRef dim, const Tensor& out) {
  logic("all", self, dim, native::Logic::kAll, out);
}

}  // namespace

void native::any_cpu(const Tensor& self, const Tensor& out) { tenon::any(self, std::nullopt, out); }
void native::any_dim_cpu(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  tenon::any(self, dim, out);
}
void native::any_dims_cpu(const Tensor& self, OptionalIntArrayRef dim, bool, const Tensor& out) {
  tenon::any(self, dim, out);
}
void native::all_cpu(const Tensor& self, const Tensor& out) { tenon::all(self, std::nullopt, out); }
void native::all_dim_cpu(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  tenon::all(self, dim, out);
}
void native::all_dims_cpu(const Tensor& self, OptionalIntArrayRef dim, bool, const Tensor& out) {
  tenon::all(self, dim, out);
}

}  // namespace tenon
#endif
