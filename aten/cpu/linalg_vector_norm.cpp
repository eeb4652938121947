#include "tenon/native/linalg_vector_norm.h"

#include <cmath>
#include <complex>

#include "aten/common/dims.h"
#include "aten/common/opmath_type.h"
#include "aten/cpu/reduce.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/to.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/linalg_vector_norm.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// Sums of powers in double: squares of floats neither overflow nor vanish there.
template <class T>
struct NormBase {
  using In = opmath_type<T>;
  using Acc = double;
  using Out = T;
  static constexpr bool kCascade = true;
  static HWY_INLINE Acc combine(Acc a, Acc b) { return a + b; }
  static HWY_INLINE Acc identity() { return 0; }
  static HWY_INLINE Out finish(Acc a, const ReduceContext&) { return static_cast<Out>(a); }
};

template <class T>
struct Norm2Op : NormBase<T> {
  static HWY_INLINE double load(opmath_type<T> x) {
    return static_cast<double>(x) * static_cast<double>(x);
  }
  static T finish(double a, const ReduceContext&) { return static_cast<T>(std::sqrt(a)); }
};

template <class T>
struct Norm1Op : NormBase<T> {
  static HWY_INLINE double load(opmath_type<T> x) { return std::fabs(static_cast<double>(x)); }
};

template <class T>
struct Norm0Op : NormBase<T> {
  static HWY_INLINE double load(opmath_type<T> x) { return x != 0 ? 1.0 : 0.0; }
};

/// max |x| and min |x|; NaN wins.
template <class T, bool kMax>
struct NormInfOp : NormBase<T> {
  static constexpr bool kCascade = false;
  static HWY_INLINE double load(opmath_type<T> x) { return std::fabs(static_cast<double>(x)); }
  static HWY_INLINE double combine(double a, double b) {
    const double best = (kMax ? b > a : b < a) ? b : a;
    return b != b ? b : best;
  }
};

const ReduceLoops* norm_loops(ScalarType type, double p) {
  return TENON_DISPATCH_FLOATING_AND_REDUCED(type, "linalg_vector_norm", {
    if (p == 2) return &kLoops<Norm2Op<scalar_t>, scalar_t>;
    if (p == 1) return &kLoops<Norm1Op<scalar_t>, scalar_t>;
    if (p == 0) return &kLoops<Norm0Op<scalar_t>, scalar_t>;
    if (p > 0) return &kLoops<NormInfOp<scalar_t, true>, scalar_t>;
    return &kLoops<NormInfOp<scalar_t, false>, scalar_t>;
  });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "aten/core/parallel.h"

namespace tenon {
namespace native {
HWY_EXPORT(norm_loops);
}

/// (sum |x|^p)^(1/p), max |x| for p = inf, min |x| for -inf, the count of non-zeros for 0.
void native::linalg_vector_norm_cpu(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                                    bool, std::optional<ScalarType> dtype, const Tensor& out) {
  const double p = ord.toDouble();
  const uint64_t mask = dim_mask("linalg_vector_norm", dim, self.dim());
  Tensor in = dtype && *dtype != self.scalar_type() ? self.to(*dtype) : self;
  if (in.is_complex()) in = ops::abs::call(in);
  const bool special = p == 0 || p == 1 || p == 2 || std::isinf(p);
  if (special) {
    reduce(in, mask, out, *HWY_DYNAMIC_DISPATCH(norm_loops)(in.scalar_type(), p));
    return;
  }
  // Rare exponents: |x|^p in double, summed, and the root taken.
  const Tensor powers = tenon::empty(in.sizes(), kDouble, kCPU);
  const Tensor values = in.to(kDouble).contiguous();
  const auto* x = static_cast<const double*>(values.const_data_ptr());
  auto* y = static_cast<double*>(powers.mutable_data_ptr());
  parallel_for(0, in.numel(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = std::pow(std::fabs(x[i]), p);
  });
  Tensor sums = tenon::empty(out.sizes(), kDouble, kCPU);
  reduce(powers, mask, sums, *HWY_DYNAMIC_DISPATCH(norm_loops)(kDouble, 1));
  auto* s = static_cast<double*>(sums.mutable_data_ptr());
  for (int64_t i = 0; i < sums.numel(); ++i) s[i] = std::pow(s[i], 1 / p);
  Tensor target = out;
  target.copy_(sums);
}

}  // namespace tenon
#endif
