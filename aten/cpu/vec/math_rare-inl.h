#if defined(TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_RARE_INL_H_
#endif

// Functions that are seldom hot: through double vectors where float inputs allow it, else lane by
// lane.

#include "aten/cpu/vec/math_exp-inl.h"
#include "aten/cpu/vec/math_trig-inl.h"
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

/// The neighbour of a on b's side; b itself where they are equal.
template <class V>
HWY_INLINE V nextafter(V a, V b) {
  const TagOf<V> d;
  const IntTagOf<V> di;
  const V zero = hn::Zero(d);
  // Patterns of numbers of one sign are ordered by magnitude: one more leads away from zero.
  const auto inwards = hn::Xor(hn::Lt(a, b), hn::Gt(a, zero));
  const auto step = hn::IfThenElse(hn::RebindMask(di, inwards), hn::Set(di, -1), hn::Set(di, 1));
  V r = hn::BitCast(d, hn::Add(hn::BitCast(di, a), step));
  r = hn::IfThenElse(hn::Eq(a, zero), hn::CopySign(hn::BitCast(d, hn::Set(di, 1)), b), r);
  r = hn::IfThenElse(hn::Eq(a, b), b, r);
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), r);
}

namespace detail {

/// lgamma of a float, in double: log|x (x + 1) ...| off a polynomial on [1, 2] below 3, off
/// Stirling's series above; Abramowitz and Stegun (1964) 6.1.15, 6.1.17, 6.1.41.
template <class V>
HWY_NOINLINE V lgamma_wide(V x) {
  const TagOf<V> d;
  // log gamma(t + 3/2) / ((t - 1/2) (t + 1/2)), |t| <= 1/2: 2^-38
  static constexpr double kNear[] = {
      0x1.eeb95b09510ffp-2,  -0x1.2aed059bdc482p-3,  0x1.01af628432734p-4,  -0x1.007aa816b30f6p-5,
      0x1.1334418a4252dp-6,  -0x1.34dc001c7b8b9p-7,  0x1.64e52f5147cc2p-8,  -0x1.a4f53522da043p-9,
      0x1.fa0c271c081adp-10, -0x1.327b472d85356p-10, 0x1.5eb6b70fde261p-11, -0x1.af2dfa0564697p-12,
      0x1.95ba3c341cf1ep-12, -0x1.fab4174ab7e71p-13};
  // B_2k / (2k (2k - 1)): four terms give 2^-37 from 8 on.
  static constexpr double kStirling[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680};
  const V a = hn::Abs(x), one = set(x, 1), two = set(x, 2);
  const auto near = hn::Lt(a, set(x, 3)), below = hn::Lt(a, one), above = hn::Gt(a, two);
  // near: gamma(a) = gamma(u) / a below 1, (a - 1) gamma(u) above 2
  const V u = hn::Add(a, hn::IfThenElse(below, one, hn::IfThenElseZero(above, set(x, -1))));
  const V t = hn::Sub(u, set(x, 1.5));
  const V on_near = hn::Mul(hn::Mul(hn::Sub(u, one), hn::Sub(u, two)), polynomial(t, kNear));
  // far: gamma(a) = gamma(a + 5) / (a (a + 1) ... (a + 4)) below 8
  const auto shifted = hn::Lt(a, set(x, 8));
  const V y = hn::Add(a, hn::IfThenElseZero(shifted, set(x, 5)));
  V p = one;
  for (int i = 0; i < 5; ++i) p = hn::Mul(p, hn::Add(a, set(x, i)));
  const V inverse = hn::Div(one, y);
  V on_far = hn::MulSub(hn::Sub(y, set(x, 0.5)), log(y), y);
  on_far = hn::Add(on_far, set(x, 0x1.d67f1c864beb5p-1));  // log(2 pi) / 2
  on_far = hn::MulAdd(inverse, polynomial(hn::Mul(inverse, inverse), kStirling), on_far);
  const V q_near = hn::IfThenElse(below, a, hn::IfThenElse(above, hn::Div(one, u), one));
  const V q = hn::IfThenElse(near, q_near, hn::IfThenElse(shifted, p, one));
  // + 0, for the zeros at 1 and 2
  V r = hn::Add(hn::Sub(hn::IfThenElse(near, on_near, on_far), log(q)), hn::Zero(d));
  const auto negative = hn::Lt(x, hn::Zero(d));
  if (!hn::AllFalse(d, negative)) {
    // gamma(-a) gamma(a) = -pi / (a sin(pi a)), with the argument of sin reduced exactly
    const V f = hn::Abs(hn::Sub(a, hn::Round(a)));
    const V s = hn::Mul(sin(hn::Mul(f, set(x, 0x1.921fb54442d18p+1))), a);
    const V reflected = hn::Sub(set(x, 0x1.250d048e7a1bdp+0), hn::Add(log(s), r));  // log pi
    r = hn::IfThenElse(negative, reflected, r);
  }
  return hn::IfThenElse(isinf(x), a, r);
}

}  // namespace detail

/// log|gamma(x)|
template <class V>
HWY_INLINE V lgamma(V x) {
  if constexpr (kIsSingle<V>) {
    return detail::via_double(x, [](auto v) { return detail::lgamma_wide(v); });
  } else {
    return detail::per_lane(x, [](double a) { return scalar_lgamma(a); });
  }
}
template <class V>
HWY_INLINE V digamma(V x) {
  return detail::per_lane(x, [](LaneOf<V> a) { return static_cast<LaneOf<V>>(scalar_digamma(a)); });
}
/// In float after Giles, Approximating the erfinv function (2012): x times a function of w = -log(1
/// - x^2), a polynomial in w up to 5 and in sqrt(w) beyond.
template <class V>
HWY_INLINE V erfinv(V x) {
  if constexpr (!kIsSingle<V>) {
    return detail::per_lane(x, [](double a) { return scalar_erfinv(a); });
  } else {
    using detail::set;
    // Of w, 0 <= w <= 5: 2^-29
    static constexpr float kSmall[] = {0x1.c5bf8ap-1f,   0x1.db29e2p-3f,   0x1.7a7ffap-7f,
                                       -0x1.32b648p-9f,  -0x1.f76c9ep-14f, 0x1.47006ep-15f,
                                       0x1.b65120p-18f,  -0x1.69ec30p-19f, 0x1.7160cap-22f,
                                       -0x1.5ecb04p-26f, 0x1.00d79ap-31f};
    // Of sqrt(w) - (4 + sqrt 5) / 2, 5 <= w <= 16: 2^-27
    static constexpr float kLarge[] = {
        0x1.79c522p+1f,  0x1.00ed38p+0f,  0x1.d54e44p-8f,   -0x1.62655cp-8f,  0x1.fb38d6p-9f,
        -0x1.51a524p-9f, 0x1.5bfaf0p-10f, -0x1.488b4cp-12f, -0x1.7f0206p-13f, 0x1.0f0a24p-13f};
    const V a = hn::Abs(x), one = set(x, 1);
    const V w = hn::Neg(log(hn::Mul(hn::Sub(one, a), hn::Add(one, a))));
    const V small = detail::polynomial(w, kSmall);
    const V large = detail::polynomial(hn::Sub(hn::Sqrt(w), set(x, 0x1.8f1bbcp+1f)), kLarge);
    const V y = hn::Mul(hn::IfThenElse(hn::Lt(w, set(x, 5)), small, large), x);
    return hn::IfThenElse(hn::Eq(a, one), hn::CopySign(hn::Inf(TagOf<V>()), x), y);
  }
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
