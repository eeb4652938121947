#if defined(TENON_ATEN_CPU_VEC_MATH_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_TRIG_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_TRIG_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_TRIG_INL_H_
#endif

// Circular functions and their inverses. Polynomials as in math_exp-inl.h.

#include "aten/cpu/vec/math_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m {
namespace detail {

template <class T>
struct TrigConstants;

template <>
struct TrigConstants<float> {
#if HWY_NATIVE_FMA
  // pi/2 in parts of 24 bits; every product is exact inside the fused multiply-add.
  static constexpr float kParts[] = {0x1.921fb4p+0f, 0x1.4442d0p-24f, 0x1.84698ap-48f};
  static constexpr float kBound = 1e5f;
#else
  // Parts of 11 bits, so that products with integers up to 2^13 are exact.
  static constexpr float kParts[] = {0x1.92p+0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f};
  static constexpr float kBound = 1e4f;
#endif
  // sin(r) = r + r^3 q(r^2), |r| <= pi/4: 2^-37; cos(r) = 1 - r^2/2 + r^4 q(r^2): 2^-33
  static constexpr float kSin[] = {-0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00f74p-13f,
                                   0x1.6ccf5ep-19f};
  static constexpr float kCos[] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e86ap-16f};
  // atan(x) = x + x^3 q(x^2), |x| <= 1: 2^-28.5
  static constexpr float kAtan[] = {-0x1.55553ep-2f, 0x1.9991fep-3f,  -0x1.2421b6p-3f,
                                    0x1.c099fep-4f,  -0x1.583490p-4f, 0x1.dac9dep-5f,
                                    -0x1.fed14cp-6f, 0x1.65a644p-7f,  -0x1.d62fbep-10f};
  // asin(x) = x + x^3 q(x^2), |x| <= 1/2: 2^-31.8
  static constexpr float kAsin[] = {0x1.55554cp-3f, 0x1.333880p-4f, 0x1.6cae50p-5f,
                                    0x1.04962cp-5f, 0x1.d8d6f2p-7f, 0x1.337096p-5f};
  static constexpr float kPi = 0x1.921fb6p+1f, kPiLo = -0x1.777a5cp-24f;
};

template <>
struct TrigConstants<double> {
  // Parts of 33 bits: exact products with integers up to 2^20, fused or not.
  static constexpr double kParts[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                      0x1.b839a252p-104};
  static constexpr double kBound = 1.6e6;
  static constexpr double kSin[] = {
      -0x1.5555555555555p-3,  0x1.111111111110bp-7,  -0x1.a01a01a018a35p-13, 0x1.71de3a532bf1ep-19,
      -0x1.ae64528769813p-26, 0x1.612088598a4b9p-33, -0x1.aaa04d29066dap-41};
  static constexpr double kCos[] = {0x1.555555555554bp-5,  -0x1.6c16c16c14f47p-10,
                                    0x1.a01a019c7cde8p-16, -0x1.27e4f7e541867p-22,
                                    0x1.1ee9d3dea899fp-29, -0x1.8fa291f7026fep-37};
  // 2^-62.8
  static constexpr double kAtan[] = {
      -0x1.5555555555554p-2,  0x1.99999999996f8p-3, -0x1.24924924858ccp-3,  0x1.c71c71c32711ep-4,
      -0x1.745d16e659aa0p-4,  0x1.3b13ab3bdac11p-4, -0x1.1110ccae6f346p-4,  0x1.e1dd5fa996b15p-5,
      -0x1.af0b5fdd03e13p-5,  0x1.858626b966811p-5, -0x1.61e2c35ef5af5p-5,  0x1.4047f3a33baadp-5,
      -0x1.1bdc01d0edb36p-5,  0x1.dfa65fec5b7eep-6, -0x1.75090b912807dp-6,  0x1.00c7e3466e95cp-6,
      -0x1.2c4e5fc5e63d0p-7,  0x1.1d93d4593c7dap-8, -0x1.a36b357135783p-10, 0x1.bad9392fe6443p-12,
      -0x1.29923f1e7b6f8p-14, 0x1.7ce75fd955d37p-18};
  // 2^-59.9
  static constexpr double kAsin[] = {
      0x1.5555555555577p-3, 0x1.333333332e08dp-4, 0x1.6db6db7219eb2p-5, 0x1.f1c71a921fdebp-6,
      0x1.6e8bdf30d2069p-6, 0x1.1c49ea9d39c83p-6, 0x1.ca2019db37b4cp-7, 0x1.7580f631320dep-7,
      0x1.6156b5146d0eep-7, 0x1.e46272af2bf73p-9, 0x1.641973c1b17fcp-6, -0x1.58b1d2d8624d2p-6,
      0x1.0b8034ef07c27p-5};
  static constexpr double kPi = 0x1.921fb54442d18p+1, kPiLo = 0x1.1a62633145c07p-53;
};

template <class V>
using TrigOf = TrigConstants<LaneOf<V>>;

template <class V, class T, size_t N, size_t... I>
HWY_INLINE V subtract_parts(V x, V q, const T (&parts)[N], std::index_sequence<I...>) {
  ((x = hn::NegMulAdd(q, set(x, parts[I]), x)), ...);
  return x;
}

/// sin and cos of the reduced argument, and the quadrant.
template <class V>
struct SinCos {
  V s, c;
  IntOf<V> q;
};

template <class V>
HWY_INLINE SinCos<V> sin_cos(V x) {
  using C = TrigOf<V>;
  const Rounded<V> k{hn::MulAdd(x, set(x, 0x1.45f306dc9c883p-1), set(x, ExpOf<V>::kMagic))};
  const V r =
      subtract_parts(x, k.value(), C::kParts, std::make_index_sequence<std::size(C::kParts)>());
  const V z = hn::Mul(r, r);
  SinCos<V> result;
  result.s = hn::MulAdd(hn::Mul(r, z), polynomial(z, C::kSin), r);
  const V half_square = hn::Mul(z, set(x, 0.5));
  // 1 - z/2 in two pieces keeps the last bit of the cosine.
  const V head = hn::Sub(set(x, 1), half_square);
  const V rest = hn::Sub(hn::Sub(set(x, 1), head), half_square);
  result.c = hn::Add(head, hn::MulAdd(hn::Mul(z, z), polynomial(z, C::kCos), rest));
  result.q = k.bits();
  return result;
}

template <class V>
HWY_INLINE bool any_beyond(V x) {
  return HWY_UNLIKELY(!hn::AllFalse(TagOf<V>(), hn::Gt(hn::Abs(x), set(x, TrigOf<V>::kBound))));
}

template <class V>
HWY_INLINE V sin_shifted(V x, int quarter) {
  const IntTagOf<V> di;
  const TagOf<V> d;
  const SinCos<V> p = sin_cos(x);
  const IntOf<V> q = hn::Add(p.q, hn::Set(di, quarter));
  const auto odd = hn::RebindMask(d, hn::TestBit(q, hn::Set(di, 1)));
  constexpr int kSignShift = sizeof(LaneOf<V>) * 8 - 2;
  const V sign = hn::And(hn::BitCast(d, hn::ShiftLeft<kSignShift>(q)), hn::SignBit(d));
  return hn::Xor(hn::IfThenElse(odd, p.c, p.s), sign);
}

}  // namespace detail

template <class V>
HWY_INLINE V sin(V x) {
  // Huge arguments need hundreds of bits of pi: the C library does them.
  if (detail::any_beyond(x)) return detail::per_lane(x, [](LaneOf<V> a) { return std::sin(a); });
  // Keeps -0.
  return hn::IfThenElse(hn::Eq(x, detail::set(x, 0)), x, detail::sin_shifted(x, 0));
}

template <class V>
HWY_INLINE V cos(V x) {
  if (detail::any_beyond(x)) return detail::per_lane(x, [](LaneOf<V> a) { return std::cos(a); });
  return detail::sin_shifted(x, 1);
}

namespace detail {

template <class V>
HWY_INLINE V tan_reduced(V x) {
  const SinCos<V> p = sin_cos(x);
  const auto odd = hn::RebindMask(TagOf<V>(), hn::TestBit(p.q, hn::Set(IntTagOf<V>(), 1)));
  const V y = hn::Div(hn::IfThenElse(odd, hn::Neg(p.c), p.s), hn::IfThenElse(odd, p.s, p.c));
  return hn::IfThenElse(hn::Eq(x, set(x, 0)), x, y);
}

}  // namespace detail

template <class V>
HWY_INLINE V tan(V x) {
  if (detail::any_beyond(x)) return detail::per_lane(x, [](LaneOf<V> a) { return std::tan(a); });
  if constexpr (kIsSingle<V>) {
    // The quotient of two rounded floats would be up to 2.3 ulp off.
    return detail::via_double(x, [](auto v) { return detail::tan_reduced(v); });
  } else {
    return detail::tan_reduced(x);
  }
}

namespace detail {

/// atan(z) for 0 <= z <= 1
template <class V>
HWY_INLINE V atan_unit(V z) {
  const V w = hn::Mul(z, z);
  return hn::MulAdd(hn::Mul(z, w), polynomial(w, TrigOf<V>::kAtan), z);
}

}  // namespace detail

template <class V>
HWY_INLINE V atan(V x) {
  using C = detail::TrigOf<V>;
  using detail::set;
  const V a = hn::Abs(x);
  const V one = set(x, 1);
  const auto inverse = hn::Gt(a, one);
  const V y =
      detail::atan_unit(hn::Div(hn::IfThenElse(inverse, one, a), hn::IfThenElse(inverse, a, one)));
  const V other = hn::Add(hn::Sub(set(x, C::kPiLo / 2), y), set(x, C::kPi / 2));
  return hn::CopySign(hn::IfThenElse(inverse, other, y), x);
}

/// Angle of the point (x, y), in [-pi, pi].
template <class V>
HWY_INLINE V atan2(V y, V x) {
  using C = detail::TrigOf<V>;
  using detail::set;
  const TagOf<V> d;
  const V ax = hn::Abs(x), ay = hn::Abs(y);
  const auto steep = hn::Gt(ay, ax);
  const V num = hn::IfThenElse(steep, ax, ay), den = hn::IfThenElse(steep, ay, ax);
  V z = hn::Div(num, den);
  z = hn::IfThenElse(hn::And(hn::Eq(num, den), hn::Eq(den, hn::Inf(d))), set(x, 1), z);
  z = hn::IfThenElse(hn::Eq(den, set(x, 0)), set(x, 0), z);
  const V nan = hn::Add(x, y);
  z = hn::IfThenElse(hn::Or(isnan(x), isnan(y)), nan, z);
  V a = detail::atan_unit(z);
  a = hn::IfThenElse(steep, hn::Add(hn::Sub(set(x, C::kPiLo / 2), a), set(x, C::kPi / 2)), a);
  const auto left = hn::Lt(hn::CopySign(set(x, 1), x), set(x, 0));
  a = hn::IfThenElse(left, hn::Add(hn::Sub(set(x, C::kPiLo), a), set(x, C::kPi)), a);
  return hn::CopySign(a, y);
}

namespace detail {

/// For a = |x|: y = asin(a) if a <= 1/2, else asin(sqrt((1 - a) / 2)).
template <class V>
HWY_INLINE V asin_core(V a, MaskOf<V> large) {
  const V z = hn::IfThenElse(large, hn::Mul(hn::Sub(set(a, 1), a), set(a, 0.5)), hn::Mul(a, a));
  const V s = hn::IfThenElse(large, hn::Sqrt(z), a);
  return hn::MulAdd(hn::Mul(s, z), polynomial(z, TrigOf<V>::kAsin), s);
}

}  // namespace detail

template <class V>
HWY_INLINE V asin(V x) {
  using C = detail::TrigOf<V>;
  using detail::set;
  const V a = hn::Abs(x);
  const auto large = hn::Gt(a, set(x, 0.5));
  const V y = detail::asin_core(a, large);
  const V other = hn::Add(hn::NegMulAdd(set(x, 2), y, set(x, C::kPiLo / 2)), set(x, C::kPi / 2));
  return hn::CopySign(hn::IfThenElse(large, other, y), x);
}

template <class V>
HWY_INLINE V acos(V x) {
  using C = detail::TrigOf<V>;
  using detail::set;
  const V a = hn::Abs(x);
  const auto large = hn::Gt(a, set(x, 0.5));
  const auto negative = hn::Lt(x, set(x, 0));
  const V y = detail::asin_core(a, large);
  const V middle = hn::Sub(set(x, C::kPi / 2), hn::Sub(hn::CopySign(y, x), set(x, C::kPiLo / 2)));
  const V twice = hn::Add(y, y);
  const V far = hn::Add(hn::Sub(set(x, C::kPiLo), twice), set(x, C::kPi));
  return hn::IfThenElse(large, hn::IfThenElse(negative, far, twice), middle);
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
