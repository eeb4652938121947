#include "tenon/native/prod.h"

#include "aten/common/accumulate.h"
#include "aten/common/dims.h"
#include "aten/common/opmath_type.h"
#include "aten/cpu/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/prod.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

template <class T, class OutType>
struct ProdOp {
  using In = opmath_type<T>;
  using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, In>;
  using Out = OutType;
  static constexpr bool kCascade = false;
  static HWY_INLINE Acc load(In x) { return static_cast<Acc>(x); }
  static HWY_INLINE Acc combine(Acc a, Acc b) {
    if constexpr (std::is_integral_v<Acc>) {
      return static_cast<Acc>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));  // wraps around
    } else {
      return a * b;
    }
  }
  static HWY_INLINE Acc identity() { return Acc(1); }
  static HWY_INLINE Out finish(Acc a, const ReduceContext&) { return static_cast<Out>(a); }
};

const ReduceLoops* prod_loops(ScalarType type) {
  return TENON_DISPATCH_ALL(type, "prod", {
    using Out = std::conditional_t<std::is_integral_v<scalar_t>, int64_t, scalar_t>;
    return &kLoops<ProdOp<scalar_t, Out>, scalar_t>;
  });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace native {
HWY_EXPORT(prod_loops);
}

namespace {

void prod(const Tensor& self, OptionalIntArrayRef dim, const Tensor& out) {
  using namespace native;
  accumulate(self, out, [&](const Tensor& in, const Tensor& to) {
    reduce(in, dim_mask("prod", dim, in.dim()), to,
           *HWY_DYNAMIC_DISPATCH(prod_loops)(in.scalar_type()));
  });
}

}  // namespace

void native::prod_cpu(const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  prod(self, std::nullopt, out);
}

void native::prod_dim_int_cpu(const Tensor& self, int64_t dim, bool, std::optional<ScalarType>,
                              const Tensor& out) {
  prod(self, dim, out);
}

}  // namespace tenon
#endif
