#include "tenon/native/sum.h"

#include "aten/common/accumulate.h"
#include "aten/common/dims.h"
#include "aten/common/opmath_type.h"
#include "aten/cpu/reduce.h"
#include "tenon/native/mean.h"
#include "tenon/ops/to.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/sum.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// Float types are summed in their own type, half types in float, integers and bool in int64.
template <class T, class OutType>
struct SumOp {
  using In = opmath_type<T>;
  using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, In>;
  using Out = OutType;
  static constexpr bool kCascade = !std::is_integral_v<T>;
  static HWY_INLINE Acc load(In x) { return static_cast<Acc>(x); }
  static HWY_INLINE Acc combine(Acc a, Acc b) { return a + b; }
  static constexpr bool kCombinesVectors = true;
  template <class V>
  static HWY_INLINE V combine_vectors(V a, V b) {
    return hwy::HWY_NAMESPACE::Add(a, b);
  }
  template <class D, class V>
  static HWY_INLINE Acc combine_lanes(D d, V v) {
    return hwy::HWY_NAMESPACE::GetLane(hwy::HWY_NAMESPACE::SumOfLanes(d, v));
  }
  static HWY_INLINE Acc identity() { return Acc(0); }
  static HWY_INLINE Out finish(Acc a, const ReduceContext&) { return static_cast<Out>(a); }
};

template <class T>
struct MeanOp : SumOp<T, T> {
  using Acc = typename SumOp<T, T>::Acc;
  static HWY_INLINE T finish(Acc a, const ReduceContext& context) {
    return static_cast<T>(a / static_cast<Acc>(to_real(static_cast<double>(context.count))));
  }
  static HWY_INLINE auto to_real(double count) {
    if constexpr (std::is_same_v<Acc, std::complex<float>>) {
      return static_cast<float>(count);
    } else {
      return count;
    }
  }
};

const ReduceLoops* sum_loops(ScalarType type) {
  return TENON_DISPATCH_ALL(type, "sum", {
    using Out = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, scalar_t>;
    return &kLoops<SumOp<scalar_t, Out>, scalar_t>;
  });
}

const ReduceLoops* mean_loops(ScalarType type) {
  return TENON_DISPATCH_SWITCH(type, "mean",
                               TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
                                   TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE)
                                       TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE),
                               { return &kLoops<MeanOp<scalar_t>, scalar_t>; });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace native {
HWY_EXPORT(sum_loops);
HWY_EXPORT(mean_loops);
}  // namespace native

namespace {

void sum(const Tensor& self, OptionalIntArrayRef dim, const Tensor& out) {
  using namespace native;
  accumulate(self, out, [&](const Tensor& in, const Tensor& to) {
    reduce(in, dim_mask("sum", dim, in.dim()), to,
           *HWY_DYNAMIC_DISPATCH(sum_loops)(in.scalar_type()));
  });
}

}  // namespace

void native::sum_cpu(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  sum(self, std::nullopt, out);
}

void native::sum_dim_IntList_cpu(const Tensor& self, OptionalIntArrayRef dim, bool,
                                 std::optional<ScalarType>, const Tensor& out) {
  sum(self, dim, out);
}

void native::mean_cpu(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  const Tensor in = self.scalar_type() == out.scalar_type() ? self : self.to(out.scalar_type());
  reduce(in, dim_mask("mean", std::nullopt, in.dim()), out,
         *HWY_DYNAMIC_DISPATCH(mean_loops)(in.scalar_type()));
}

void native::mean_dim_cpu(const Tensor& self, OptionalIntArrayRef dim, bool,
                          std::optional<ScalarType>, const Tensor& out) {
  const Tensor in = self.scalar_type() == out.scalar_type() ? self : self.to(out.scalar_type());
  reduce(in, dim_mask("mean", dim, in.dim()), out,
         *HWY_DYNAMIC_DISPATCH(mean_loops)(in.scalar_type()));
}

}  // namespace tenon
#endif
