#if defined(TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_
#endif

// Functions that are seldom hot: through double vectors where float inputs allow it, else lane by
// lane.

#include "aten/cpu/vec/math_exp-inl.h"
#include "aten/cpu/vec/scalar_math.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m {

template <class V>
HWY_INLINE V erfc(V x) {
  if constexpr (!kIsSingle<V>) {
    return detail::per_lane(x, [](double a) { return std::erfc(a); });
  } else {
    return detail::via_double(x, [](auto v) {
      using detail::set;
      // erfc(a) = exp(-a^2) q(u) / (1 + 2a), u = (a - 2) / (a + 2), 0 <= a <= 10.5: 2^-31.8
      static constexpr double kErfc[] = {
          0x1.46e80e23e69fap+0,   -0x1.7bf5ec8f20fdap-4, -0x1.5407c4597e45fp-3,
          0x1.4ffa2670d8e13p-3,   -0x1.bc29c1276cd98p-5, -0x1.0745b24106268p-7,
          0x1.1d9976d3b7f10p-7,   0x1.4d0ff00e9126dp-10, -0x1.7770bd088f951p-10,
          -0x1.cdf4e48593cc2p-12, 0x1.5dcebf6bf6844p-13, 0x1.d5c2813e92138p-14,
          0x1.09935cd6f7dbfp-16};
      const auto a = detail::clamp_above(hn::Abs(v), 10.5);
      const auto u = hn::Div(hn::Sub(a, set(a, 2)), hn::Add(a, set(a, 2)));
      const auto e = exp(hn::Neg(hn::Mul(a, a)));
      const auto c =
          hn::Div(hn::Mul(e, detail::polynomial(u, kErfc)), hn::MulAdd(a, set(a, 2), set(a, 1)));
      return hn::IfThenElse(hn::Lt(v, set(a, 0)), hn::Sub(set(a, 2), c), c);
    });
  }
}

template <class V>
HWY_INLINE V asinh(V x) {
  if constexpr (!kIsSingle<V>) {
    return detail::per_lane(x, [](double a) { return std::asinh(a); });
  } else {
    return detail::via_double(x, [](auto v) {
      const auto a = hn::Abs(v), one = detail::set(v, 1);
      const auto z = hn::Mul(a, a);
      const auto y = hn::Add(a, hn::Div(z, hn::Add(one, hn::Sqrt(hn::Add(z, one)))));
      // inf / inf above
      return hn::CopySign(log1p(hn::IfThenElse(isinf(a), a, y)), v);
    });
  }
}

template <class V>
HWY_INLINE V acosh(V x) {
  if constexpr (!kIsSingle<V>) {
    return detail::per_lane(x, [](double a) { return std::acosh(a); });
  } else {
    return detail::via_double(x, [](auto v) {
      const auto t = hn::Sub(v, detail::set(v, 1));
      const auto root = hn::Mul(hn::Sqrt(t), hn::Sqrt(hn::Add(v, detail::set(v, 1))));
      return log1p(hn::Add(t, root));  // NaN below 1 by the first root
    });
  }
}

template <class V>
HWY_INLINE V atanh(V x) {
  if constexpr (!kIsSingle<V>) {
    return detail::per_lane(x, [](double a) { return std::atanh(a); });
  } else {
    return detail::via_double(x, [](auto v) {
      const auto a = hn::Abs(v);
      const auto y = log1p(hn::Div(hn::Add(a, a), hn::Sub(detail::set(v, 1), a)));
      return hn::CopySign(hn::Mul(y, detail::set(v, 0.5)), v);
    });
  }
}

/// sqrt(a^2 + b^2) without overflow; infinite if either is.
template <class V>
HWY_INLINE V hypot(V a, V b) {
  if constexpr (!kIsSingle<V>) {
    return detail::per_lane(a, b, [](double x, double y) { return std::hypot(x, y); });
  } else {
    const V r = detail::via_double(
        a, b, [](auto x, auto y) { return hn::Sqrt(hn::MulAdd(x, x, hn::Mul(y, y))); });
    return hn::IfThenElse(hn::Or(isinf(a), isinf(b)), hn::Inf(TagOf<V>()), r);
  }
}

template <class V>
HWY_INLINE V nextafter(V a, V b) {
  using T = LaneOf<V>;
  return detail::per_lane(a, b, [](T x, T y) { return std::nextafter(x, y); });
}

/// log|gamma(x)|
template <class V>
HWY_INLINE V lgamma(V x) {
  return detail::per_lane(x, [](LaneOf<V> a) { return static_cast<LaneOf<V>>(scalar_lgamma(a)); });
}
template <class V>
HWY_INLINE V digamma(V x) {
  return detail::per_lane(x, [](LaneOf<V> a) { return static_cast<LaneOf<V>>(scalar_digamma(a)); });
}
template <class V>
HWY_INLINE V erfinv(V x) {
  return detail::per_lane(x, [](LaneOf<V> a) { return static_cast<LaneOf<V>>(scalar_erfinv(a)); });
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
