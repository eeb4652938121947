#if defined(TENON_ATEN_CPU_VEC_MATH_BASIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_BASIC_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_BASIC_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_BASIC_INL_H_
#endif

// Helpers, arithmetic, comparison and logic.

#include "aten/core/simd_targets.h"
#include <hwy/highway.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
using LaneOf = hn::TFromV<V>;
template <class V>
using TagOf = hn::DFromV<V>;
template <class V>
using MaskOf = hn::Mask<hn::DFromV<V>>;
template <class V>
using IntTagOf = hn::RebindToSigned<hn::DFromV<V>>;
template <class V>
using IntOf = hn::Vec<IntTagOf<V>>;

template <class T>
inline constexpr bool kIsComplex = false;
template <class R>
inline constexpr bool kIsComplex<std::complex<R>> = true;

template <class V>
inline constexpr bool kIsFloat = hwy::IsFloat<LaneOf<V>>();
template <class V>
inline constexpr bool kIsSingle = std::is_same_v<LaneOf<V>, float>;

/// Whether X is a mask of one of the vector compute types.
template <class X>
inline constexpr bool kIsMask = std::is_same_v<X, hn::Mask<hn::ScalableTag<float>>> ||
                                std::is_same_v<X, hn::Mask<hn::ScalableTag<double>>> ||
                                std::is_same_v<X, hn::Mask<hn::ScalableTag<int32_t>>> ||
                                std::is_same_v<X, hn::Mask<hn::ScalableTag<int64_t>>>;

/// All lanes (or the complex number) equal to `value`.
template <class V>
HWY_INLINE V constant(double value) {
  if constexpr (kIsComplex<V>) {
    return V(static_cast<typename V::value_type>(value));
  } else {
    return hn::Set(TagOf<V>(), static_cast<LaneOf<V>>(value));
  }
}

namespace detail {

template <class V, class T>
HWY_INLINE V set(V, T value) {
  return hn::Set(TagOf<V>(), static_cast<LaneOf<V>>(value));
}

/// c[0] + c[kStep] x + c[2 kStep] x^2 + ... by Horner's rule, fully unrolled.
template <size_t kStep, class V, size_t N>
HWY_INLINE V horner(V x, const V (&c)[N]) {
  constexpr size_t kLast = (N - 1) / kStep;
  V y = c[kLast * kStep];
  for (size_t i = kLast; i-- > 0;) y = hn::MulAdd(y, x, c[i * kStep]);
  return y;
}

/// c[0] + c[1] x + ... as two chains, of the even and of the odd powers: one multiplication more
/// than Horner's rule, and half as many steps that wait for each other.
template <class V, size_t N>
HWY_INLINE V polynomial_in_halves(V x, const V (&c)[N]) {
  const V square = hn::Mul(x, x);
  constexpr size_t kOdd = N % 2 == 0 ? N - 1 : N - 2;  // the last odd power
  V odd = c[kOdd];
  for (size_t i = kOdd; i > 1; i -= 2) odd = hn::MulAdd(odd, square, c[i - 2]);
  return hn::MulAdd(odd, x, horner<2>(square, c));
}

/// c[0] + c[1] x + ...: in float, short enough for many elements to be under way at once, with the
/// fewest operations; in double, with the shorter chain.
template <class V, size_t N>
HWY_INLINE V polynomial(V x, const LaneOf<V> (&c)[N]) {
  V coefficients[N];
  for (size_t i = 0; i < N; ++i) coefficients[i] = set(x, c[i]);
  if constexpr (kIsSingle<V>) {
    return horner<1>(x, coefficients);
  } else {
    return polynomial_in_halves(x, coefficients);
  }
}

/// Applies a scalar function to each lane: for functions too rare to be worth a vector form.
template <class V, class F>
HWY_NOINLINE V per_lane(V x, F f) {
  const TagOf<V> d;
  HWY_ALIGN LaneOf<V> a[hn::MaxLanes(d)];
  hn::Store(x, d, a);
  for (size_t i = 0; i < hn::Lanes(d); ++i) a[i] = f(a[i]);
  return hn::Load(d, a);
}
template <class V, class F>
HWY_NOINLINE V per_lane(V x, V y, F f) {
  const TagOf<V> d;
  HWY_ALIGN LaneOf<V> a[hn::MaxLanes(d)];
  HWY_ALIGN LaneOf<V> b[hn::MaxLanes(d)];
  hn::Store(x, d, a);
  hn::Store(y, d, b);
  for (size_t i = 0; i < hn::Lanes(d); ++i) a[i] = f(a[i], b[i]);
  return hn::Load(d, a);
}

/// Evaluates a float function through its double form, half a vector at a time.
template <class V, class F>
HWY_INLINE V via_double(V x, F f) {
  const TagOf<V> d;
  const hn::Half<decltype(d)> dh;
  const hn::Repartition<double, decltype(d)> dd;
  const auto lo = f(hn::PromoteTo(dd, hn::LowerHalf(dh, x)));
  const auto hi = f(hn::PromoteTo(dd, hn::UpperHalf(dh, x)));
  return hn::Combine(d, hn::DemoteTo(dh, hi), hn::DemoteTo(dh, lo));
}
template <class V, class F>
HWY_INLINE V via_double(V x, V y, F f) {
  const TagOf<V> d;
  const hn::Half<decltype(d)> dh;
  const hn::Repartition<double, decltype(d)> dd;
  const auto lo =
      f(hn::PromoteTo(dd, hn::LowerHalf(dh, x)), hn::PromoteTo(dd, hn::LowerHalf(dh, y)));
  const auto hi =
      f(hn::PromoteTo(dd, hn::UpperHalf(dh, x)), hn::PromoteTo(dd, hn::UpperHalf(dh, y)));
  return hn::Combine(d, hn::DemoteTo(dh, hi), hn::DemoteTo(dh, lo));
}

/// The smaller / larger of a number and a limit; NaN in x stays NaN.
template <class V, class T>
HWY_INLINE V clamp_above(V x, T limit) {
#if HWY_ARCH_X86
  return hn::Min(set(x, limit), x);  // x86 returns its second operand when either is NaN
#else
  return hn::IfThenElse(hn::Gt(x, set(x, limit)), set(x, limit), x);
#endif
}
template <class V, class T>
HWY_INLINE V clamp_below(V x, T limit) {
#if HWY_ARCH_X86
  return hn::Max(set(x, limit), x);
#else
  return hn::IfThenElse(hn::Lt(x, set(x, limit)), set(x, limit), x);
#endif
}

}  // namespace detail

template <class V>
HWY_INLINE V add(V a, V b) {
  return hn::Add(a, b);
}
template <class V>
HWY_INLINE V sub(V a, V b) {
  return hn::Sub(a, b);
}
template <class V>
HWY_INLINE V mul(V a, V b) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<LaneOf<V>, int8_t>) {
    // By halves of pairs: the low byte of a product follows from the factors' low bytes.
    const hn::Repartition<uint16_t, TagOf<V>> pairs;
    const auto x = hn::BitCast(pairs, a), y = hn::BitCast(pairs, b);
    const auto even = hn::And(hn::Mul(x, y), hn::Set(pairs, 0xff));
    const auto odd = hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y));
    return hn::BitCast(TagOf<V>(), hn::Or(even, hn::ShiftLeft<8>(odd)));
  } else
#endif
    return hn::Mul(a, b);
}
/// a / b of floating-point numbers.
template <class V>
HWY_INLINE V div(V a, V b) {
  return hn::Div(a, b);
}
template <class V>
HWY_INLINE V neg(V a) {
  return hn::Neg(a);
}
template <class V>
HWY_INLINE V abs(V a) {
  return hn::Abs(a);
}
template <class V>
HWY_INLINE V square(V a) {
  return mul(a, a);
}
template <class V>
HWY_INLINE V reciprocal(V a) {
  return hn::Div(constant<V>(1), a);
}
/// a * b + c
template <class V>
HWY_INLINE V fma(V a, V b, V c) {
  if constexpr (kIsFloat<V>) {
    return hn::MulAdd(a, b, c);
  } else {
    return hn::Add(mul(a, b), c);
  }
}

// ---- comparison and logic ------------------------------------------------------------------

template <class V>
HWY_INLINE MaskOf<V> eq(V a, V b) {
  return hn::Eq(a, b);
}
template <class V>
HWY_INLINE MaskOf<V> ne(V a, V b) {
  return hn::Not(hn::Eq(a, b));  // Highway's Ne is false for NaN on some targets
}
template <class V>
HWY_INLINE MaskOf<V> lt(V a, V b) {
  return hn::Lt(a, b);
}
template <class V>
HWY_INLINE MaskOf<V> gt(V a, V b) {
  return hn::Gt(a, b);
}
template <class V>
HWY_INLINE MaskOf<V> le(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return hn::Le(a, b);
  } else {
    return hn::Not(hn::Gt(a, b));
  }
}
template <class V>
HWY_INLINE MaskOf<V> ge(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return hn::Ge(a, b);
  } else {
    return hn::Not(hn::Lt(a, b));
  }
}

/// v != 0; NaN counts as true. A mask stays what it is.
template <class X>
HWY_INLINE auto to_mask(X x) {
  if constexpr (kIsMask<X>) {
    return x;
  } else {
    return ne(x, constant<X>(0));
  }
}
/// 1 where the mask holds, else 0.
template <class V, class M>
HWY_INLINE V from_mask(M mask) {
  if constexpr (kIsComplex<V>) {
    return V(static_cast<typename V::value_type>(mask));
  } else {
    return hn::IfThenElseZero(mask, constant<V>(1));
  }
}
/// mask ? a : b. The condition may also be a vector, read as v != 0.
template <class M, class V>
HWY_INLINE V where(M mask, V a, V b) {
  return hn::IfThenElse(to_mask(mask), a, b);
}
template <class A, class B>
HWY_INLINE auto logical_and(A a, B b) {
  return hn::And(to_mask(a), to_mask(b));
}
template <class A, class B>
HWY_INLINE auto logical_or(A a, B b) {
  return hn::Or(to_mask(a), to_mask(b));
}
template <class A, class B>
HWY_INLINE auto logical_xor(A a, B b) {
  return hn::Xor(to_mask(a), to_mask(b));
}
template <class A>
HWY_INLINE auto logical_not(A a) {
  return hn::Not(to_mask(a));
}
template <class V>
HWY_INLINE MaskOf<V> isnan(V a) {
  return hn::Not(hn::Eq(a, a));
}
template <class V>
HWY_INLINE MaskOf<V> isinf(V a) {
  if constexpr (kIsFloat<V>) {
    return hn::Eq(hn::Abs(a), hn::Inf(TagOf<V>()));
  } else {
    return hn::Ne(a, a);
  }
}
template <class V>
HWY_INLINE MaskOf<V> isfinite(V a) {
  if constexpr (kIsFloat<V>) {
    return hn::Lt(hn::Abs(a), hn::Inf(TagOf<V>()));
  } else {
    return hn::Eq(a, a);
  }
}

// ---- selection, rounding ---------------------------------------------------------------------

/// Larger of the two; NaN if either is NaN.
template <class V>
HWY_INLINE V maximum(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return hn::IfThenElse(isnan(a), a, hn::IfThenElse(hn::Gt(a, b), a, b));
  } else {
    return hn::Max(a, b);
  }
}
template <class V>
HWY_INLINE V minimum(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return hn::IfThenElse(isnan(a), a, hn::IfThenElse(hn::Lt(a, b), a, b));
  } else {
    return hn::Min(a, b);
  }
}
/// Larger of the two; the number if one is NaN.
template <class V>
HWY_INLINE V fmax(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return hn::IfThenElse(isnan(b), a, hn::IfThenElse(hn::Gt(a, b), a, b));
  } else {
    return hn::Max(a, b);
  }
}
template <class V>
HWY_INLINE V fmin(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return hn::IfThenElse(isnan(b), a, hn::IfThenElse(hn::Lt(a, b), a, b));
  } else {
    return hn::Min(a, b);
  }
}
/// -1, 0 or 1; sign(NaN) = 0 as in PyTorch.
template <class V>
HWY_INLINE V sign(V a) {
  const V zero = constant<V>(0);
  return hn::Sub(from_mask<V>(hn::Gt(a, zero)), from_mask<V>(hn::Lt(a, zero)));
}
/// max(a, 0); NaN and -0 stay.
template <class V>
HWY_INLINE V relu(V a) {
  if constexpr (kIsFloat<V>) {
    return detail::clamp_below(a, 0);
  } else {
    return hn::Max(a, constant<V>(0));
  }
}
template <class V>
HWY_INLINE V copysign(V a, V b) {
  return hn::CopySign(a, b);
}
template <class V>
HWY_INLINE V floor(V a) {
  if constexpr (kIsFloat<V>) {
    return hn::Floor(a);
  } else {
    return a;
  }
}
template <class V>
HWY_INLINE V ceil(V a) {
  if constexpr (kIsFloat<V>) {
    return hn::Ceil(a);
  } else {
    return a;
  }
}
/// To nearest, halves to even.
template <class V>
HWY_INLINE V round(V a) {
  if constexpr (kIsFloat<V>) {
    return hn::Round(a);
  } else {
    return a;
  }
}
template <class V>
HWY_INLINE V trunc(V a) {
  if constexpr (kIsFloat<V>) {
    return hn::Trunc(a);
  } else {
    return a;
  }
}
/// a - trunc(a)
template <class V>
HWY_INLINE V frac(V a) {
  return hn::Sub(a, hn::Trunc(a));
}

// On real numbers these do nothing; they exist so that one expression serves complex ones too.
template <class V>
HWY_INLINE V conj(V a) {
  return a;
}
template <class V>
HWY_INLINE V real(V a) {
  return a;
}
template <class V>
HWY_INLINE V imag(V) {
  return constant<V>(0);
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
