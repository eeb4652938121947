#include "tenon/native/var.h"

#include <cmath>
#include <complex>

#include "aten/common/complex_parts.h"
#include "aten/common/dims.h"
#include "aten/cpu/reduce.h"
#include "tenon/native/std.h"
#include "tenon/ops/add.h"
#include "tenon/ops/sqrt.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/var.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

struct Moments {
  double count;
  double mean;
  double m2;  // sum of squared distances from the mean

  /// Chan, Golub and LeVeque (1979): moments of the union of two samples.
  static Moments combine(const Moments& a, const Moments& b) {
    const double count = a.count + b.count;
    if (count == 0) return a;
    const double delta = b.mean - a.mean;
    return {count, a.mean + delta * (b.count / count),
            a.m2 + b.m2 + delta * delta * (a.count * b.count / count)};
  }
};

/// Blocks that stay in the cache are passed over twice: the mean first, then the distances from it.
template <class T>
struct VarLoops {
  using F = std::conditional_t<std::is_same_v<T, double>, double, float>;
  static constexpr int64_t kBlock = 2048;
  static constexpr int64_t kLanes = 32;

  template <class G>
  static HWY_INLINE double total(const F* HWY_RESTRICT p, int64_t n, G term) {
    double lanes[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] += term(static_cast<double>(p[i + j]));
    }
    for (; i < n; ++i) lanes[0] += term(static_cast<double>(p[i]));
    for (int64_t w = kLanes / 2; w > 0; w /= 2) {
      for (int64_t j = 0; j < w; ++j) lanes[j] += lanes[j + w];
    }
    return lanes[0];
  }

  static Moments block(const F* p, int64_t n) {
    const double mean = total(p, n, [](double x) HWY_ATTR { return x; }) / static_cast<double>(n);
    const double m2 = total(p, n, [mean](double x) HWY_ATTR { return (x - mean) * (x - mean); });
    return {static_cast<double>(n), mean, m2};
  }

  static void rows(const void* in, int64_t step, int64_t count, int64_t n, void* acc, bool first) {
    const auto* p = static_cast<const T*>(in);
    auto* a = static_cast<Moments*>(acc);
    alignas(64) F buffer[kBlock];
    for (int64_t i = 0; i < count; ++i, p += step) {
      Moments sum{};
      for (int64_t k = 0; k < n; k += kBlock) {
        const int64_t m = std::min(kBlock, n - k);
        Moments part;
        if constexpr (std::is_same_v<T, F>) {
          part = block(p + k, m);
        } else {
          converter(kFloat, scalar_type_of<T>)(buffer, p + k, m);
          part = block(buffer, m);
        }
        sum = k == 0 ? part : Moments::combine(sum, part);
      }
      a[i] = first ? sum : Moments::combine(a[i], sum);
    }
  }

  static void combine(void* acc, const void* other, int64_t n) {
    auto* a = static_cast<Moments*>(acc);
    for (int64_t i = 0; i < n; ++i)
      a[i] = Moments::combine(a[i], static_cast<const Moments*>(other)[i]);
  }

  static void identity(void* acc, int64_t n) {
    std::fill(static_cast<Moments*>(acc), static_cast<Moments*>(acc) + n, Moments{});
  }

  template <bool kRoot>
  static void finish(const void* acc, void* out, int64_t step, int64_t n,
                     const ReduceContext& context) {
    for (int64_t i = 0; i < n; ++i) {
      const Moments& m = static_cast<const Moments*>(acc)[i];
      // No elements, or as many as the correction takes away: 0 / 0.
      const double var = m.m2 / std::max(0.0, m.count - context.parameter);
      static_cast<T*>(out)[i * step] = static_cast<T>(kRoot ? std::sqrt(var) : var);
    }
  }
};

template <class T, bool kRoot>
inline constexpr ReduceLoops kVarLoops = {sizeof(Moments),
                                          sizeof(T),
                                          VarLoops<T>::rows,
                                          nullptr,
                                          VarLoops<T>::combine,
                                          VarLoops<T>::identity,
                                          VarLoops<T>::template finish<kRoot>};

const ReduceLoops* var_loops(ScalarType type, bool root) {
  return TENON_DISPATCH_FLOATING_AND_REDUCED(
      type, "var", { return root ? &kVarLoops<scalar_t, true> : &kVarLoops<scalar_t, false>; });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace native {
HWY_EXPORT(var_loops);
}

namespace {

void variance(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
              bool root, const Tensor& out) {
  using namespace native;
  if (self.is_complex()) {
    // The mean squared distance is the sum of those of the two parts.
    const ComplexParts parts = complex_parts(self);
    const TensorBase other = tenon::empty(out.sizes(), out.scalar_type(), kCPU);
    variance(Tensor(parts.real), dim, correction, false, out);
    variance(Tensor(parts.imag), dim, correction, false, Tensor(other));
    Tensor sum = out;
    ops::add__Tensor::call(sum, Tensor(other), 1);
    if (root) ops::sqrt_::call(sum);
    return;
  }
  ReduceContext context;
  context.parameter = correction ? correction->toDouble() : 1.0;
  reduce(self, dim_mask("var", dim, self.dim()), out,
         *HWY_DYNAMIC_DISPATCH(var_loops)(self.scalar_type(), root), context);
}

}  // namespace

void native::var_correction_cpu(const Tensor& self, OptionalIntArrayRef dim,
                                const std::optional<Scalar>& correction, bool, const Tensor& out) {
  variance(self, dim, correction, false, out);
}

void native::std_correction_cpu(const Tensor& self, OptionalIntArrayRef dim,
                                const std::optional<Scalar>& correction, bool, const Tensor& out) {
  variance(self, dim, correction, true, out);
}

}  // namespace tenon
#endif
