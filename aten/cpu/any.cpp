#include "tenon/native/any.h"

#include "aten/common/dims.h"
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

/// Truth as 0 and 1 in a byte, which vectorises where bool does not.
template <class T, bool kAny>
struct LogicOp {
  using In = opmath_t<T>;
  using Acc = uint8_t;
  using Out = uint8_t;
  static constexpr bool kCascade = false;
  static HWY_INLINE Acc load(In x) { return x != In(0); }
  static HWY_INLINE Acc combine(Acc a, Acc b) { return kAny ? a | b : a & b; }
  static HWY_INLINE Acc identity() { return kAny ? 0 : 1; }
  static HWY_INLINE Out finish(Acc a, const ReduceContext&) { return a; }
};

const ReduceLoops* any_loops(ScalarType type) {
  return TENON_DISPATCH_ALL(type, "any", { return &kLoops<LogicOp<scalar_t, true>, scalar_t>; });
}

const ReduceLoops* all_loops(ScalarType type) {
  return TENON_DISPATCH_ALL(type, "all", { return &kLoops<LogicOp<scalar_t, false>, scalar_t>; });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace native {
HWY_EXPORT(any_loops);
HWY_EXPORT(all_loops);
}  // namespace native

namespace {

// An empty list of dims reduces nothing here: that is what `any.dims` with dim=[] means in PyTorch.
void any(const Tensor& self, OptionalIntArrayRef dim, const Tensor& out) {
  using namespace native;
  reduce(self, dim_mask("any", dim, self.dim(), false), out,
         *HWY_DYNAMIC_DISPATCH(any_loops)(self.scalar_type()));
}

void all(const Tensor& self, OptionalIntArrayRef dim, const Tensor& out) {
  using namespace native;
  reduce(self, dim_mask("all", dim, self.dim(), false), out,
         *HWY_DYNAMIC_DISPATCH(all_loops)(self.scalar_type()));
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
