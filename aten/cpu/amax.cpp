#include "tenon/native/amax.h"

#include <limits>

#include "aten/common/dims.h"
#include "aten/common/opmath_type.h"
#include "aten/cpu/amax.h"
#include "aten/cpu/reduce.h"
#include "tenon/native/amin.h"
#include "tenon/native/max.h"
#include "tenon/native/min.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/amax.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// The larger (or smaller) one; NaN wins.
template <class T, bool kMax>
struct ExtremeOp {
  using In = opmath_type<T>;
  using Acc = In;
  using Out = T;
  static constexpr bool kCascade = false;
  static HWY_INLINE Acc load(In x) { return x; }
  static HWY_INLINE Acc combine(Acc a, Acc b) {
    // A NaN in a loses no comparison, one in b must be taken. Two selections vectorise where `||`
    // does not.
    const Acc best = (kMax ? b > a : b < a) ? b : a;
    return b != b ? b : best;
  }
  static constexpr bool kCombinesVectors = true;
  static constexpr bool kDropsNaN = true;
  template <class V>
  static HWY_INLINE V combine_vectors(V a, V b) {
    namespace hn = hwy::HWY_NAMESPACE;
    return kMax ? hn::Max(a, b) : hn::Min(a, b);
  }
  template <class D, class V>
  static HWY_INLINE Acc combine_lanes(D d, V v) {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::GetLane(kMax ? hn::MaxOfLanes(d, v) : hn::MinOfLanes(d, v));
  }
  static HWY_INLINE Acc identity() { return Acc(0); }
  static HWY_INLINE Out finish(Acc a, const ReduceContext&) { return static_cast<Out>(a); }
};

const ReduceLoops* max_loops(ScalarType type) {
  return TENON_DISPATCH_REAL(type, "amax",
                             { return &kLoops<ExtremeOp<scalar_t, true>, scalar_t>; });
}

const ReduceLoops* min_loops(ScalarType type) {
  return TENON_DISPATCH_REAL(type, "amin",
                             { return &kLoops<ExtremeOp<scalar_t, false>, scalar_t>; });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace native {
HWY_EXPORT(max_loops);
HWY_EXPORT(min_loops);

const ReduceLoops& extreme_loops(ScalarType type, bool max) {
  return max ? *HWY_DYNAMIC_DISPATCH(max_loops)(type) : *HWY_DYNAMIC_DISPATCH(min_loops)(type);
}
}  // namespace native

void native::amax_cpu(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  reduce(self, dim_mask("amax", dim, self.dim()), out, extreme_loops(self.scalar_type(), true));
}

void native::amin_cpu(const Tensor& self, IntArrayRef dim, bool, const Tensor& out) {
  reduce(self, dim_mask("amin", dim, self.dim()), out, extreme_loops(self.scalar_type(), false));
}

void native::max_cpu(const Tensor& self, const Tensor& out) {
  native::amax_cpu(self, {}, false, out);
}

void native::min_cpu(const Tensor& self, const Tensor& out) {
  native::amin_cpu(self, {}, false, out);
}

}  // namespace tenon
#endif
