#if defined(TENON_ATEN_CPU_VEC_MATH_INTEGER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_INTEGER_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_INTEGER_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_INTEGER_INL_H_
#endif

// Division with rounding, powers, and bits.

#include "aten/cpu/vec/math_exp-inl.h"
#include "aten/iterator/zero_division.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m {
namespace detail {

/// b with zeros replaced by 1, after recording that there were any: the caller of the loop throws.
template <class V>
HWY_INLINE V checked_divisor(V b) {
  const auto zero = hn::Eq(b, set(b, 0));
  if (HWY_UNLIKELY(!hn::AllFalse(TagOf<V>(), zero))) {
    note_zero_division();
    b = hn::IfThenElse(zero, set(b, 1), b);
  }
  return b;
}

// b is not 0. -1 apart, because lowest / -1 traps.
template <class T>
HWY_INLINE T int_quotient(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return b == -1 ? static_cast<T>(U{0} - static_cast<U>(a)) : a / b;
}
template <class T>
HWY_INLINE T int_rest(T a, T b) {
  return b == -1 ? T{0} : a % b;
}

/// fmod of finite numbers whose quotient is below 2^22 (2^51): exact with a fused multiply-add.
template <class V>
HWY_INLINE V fmod_near(V a, V b) {
  const V n = hn::Trunc(hn::Div(a, b));
  V r = hn::NegMulAdd(n, b, a);
  // The quotient may have been rounded up to the next integer: then r has the wrong sign.
  const V step = hn::CopySign(b, a);
  const auto wrong = hn::Lt(hn::Mul(hn::CopySign(set(a, 1), a), r), set(a, 0));
  r = hn::IfThenElse(wrong, hn::Add(r, step), r);
  return hn::CopySign(r, a);
}

}  // namespace detail

/// a - trunc(a / b) b: the sign of the dividend.
template <class V>
HWY_INLINE V fmod(V a, V b) {
  if constexpr (kIsFloat<V>) {
#if HWY_NATIVE_FMA
    using detail::set;
    constexpr double kLargest = kIsSingle<V> ? 0x1p22 : 0x1p51;
    constexpr double kTiny = kIsSingle<V> ? 0x1p-100 : 0x1p-900;
    const V q = hn::Abs(hn::Div(a, b));
    const auto near = hn::And(hn::Lt(q, set(a, kLargest)),
                              hn::And(hn::Gt(hn::Abs(b), set(a, kTiny)), isfinite(b)));
    if (HWY_LIKELY(hn::AllTrue(TagOf<V>(), near))) return detail::fmod_near(a, b);
#endif
    return detail::per_lane(a, b, [](LaneOf<V> x, LaneOf<V> y) { return std::fmod(x, y); });
  } else {
    return detail::per_lane(a, detail::checked_divisor(b), detail::int_rest<LaneOf<V>>);
  }
}

/// a - floor(a / b) b: the sign of the divisor.
template <class V>
HWY_INLINE V remainder(V a, V b) {
  if constexpr (kIsFloat<V>) {
    const V r = fmod(a, b);
    const V zero = detail::set(a, 0);
    const auto differ = hn::Xor(hn::Lt(b, zero), hn::Lt(r, zero));
    return hn::IfThenElse(hn::And(hn::Ne(r, zero), differ), hn::Add(r, b), r);
  } else {
    return detail::per_lane(a, detail::checked_divisor(b), [](LaneOf<V> x, LaneOf<V> y) {
      const LaneOf<V> r = detail::int_rest(x, y);
      return static_cast<LaneOf<V>>(r != 0 && ((r < 0) != (y < 0)) ? r + y : r);
    });
  }
}

/// Python's `//`
template <class V>
HWY_INLINE V floor_divide(V a, V b) {
  if constexpr (kIsFloat<V>) {
    using detail::set;
    const V zero = set(a, 0), one = set(a, 1);
    const V r = fmod(a, b);
    const auto differ = hn::Xor(hn::Lt(b, zero), hn::Lt(r, zero));
    V q = hn::Div(hn::Sub(a, r), b);
    q = hn::IfThenElse(hn::And(hn::Ne(r, zero), differ), hn::Sub(q, one), q);
    V f = hn::Floor(q);
    f = hn::IfThenElse(hn::Gt(hn::Sub(q, f), set(a, 0.5)), hn::Add(f, one), f);
    const V exact = hn::Div(a, b);
    f = hn::IfThenElse(hn::Eq(q, zero), hn::CopySign(zero, exact), f);
    return hn::IfThenElse(hn::Eq(b, zero), exact, f);
  } else {
    return detail::per_lane(a, detail::checked_divisor(b), [](LaneOf<V> x, LaneOf<V> y) {
      const LaneOf<V> q = detail::int_quotient(x, y);
      const LaneOf<V> r = detail::int_rest(x, y);
      return static_cast<LaneOf<V>>(r != 0 && ((r < 0) != (y < 0)) ? q - 1 : q);
    });
  }
}

/// The quotient rounded towards zero.
template <class V>
HWY_INLINE V trunc_divide(V a, V b) {
  if constexpr (kIsFloat<V>) {
    return hn::Trunc(hn::Div(a, b));
  } else {
    return detail::per_lane(a, detail::checked_divisor(b), detail::int_quotient<LaneOf<V>>);
  }
}

namespace detail {

/// Integer power modulo 2^bits; a negative exponent gives the truncated reciprocal.
template <class T>
inline T int_pow(T base, T exponent) {
  using U = std::make_unsigned_t<T>;
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  U result = 1, square = static_cast<U>(base);
  for (U e = static_cast<U>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

/// |x|^y in double, rounded once to float: 2^(y log2|x|).
template <class V>
HWY_NOINLINE V pow_single(V x, V y) {
  const TagOf<V> d;
  const V p =
      via_double(hn::Abs(x), y, [](auto a, auto b) { return m::exp2(hn::Mul(b, m::log2(a))); });
  const V zero = set(x, 0), one = set(x, 1), inf = hn::Inf(d);
  const V half = hn::Mul(y, set(x, 0.5));
  const auto whole = hn::Eq(hn::Floor(y), y);
  const auto odd = hn::And(hn::And(whole, isfinite(y)), hn::Ne(hn::Floor(half), half));
  V result = hn::IfThenElse(odd, hn::CopySign(p, x), p);
  const auto no_root = hn::And(hn::And(hn::Lt(x, zero), hn::Gt(x, hn::Neg(inf))), hn::Not(whole));
  result = hn::IfThenElse(no_root, hn::NaN(d), result);
  const auto unit = hn::Or(hn::Eq(x, one), hn::Eq(y, zero));
  const auto minus_one = hn::And(hn::Eq(x, hn::Neg(one)), isinf(y));
  const V nan = hn::Add(x, y);
  result = hn::IfThenElse(hn::Or(isnan(x), isnan(y)), nan, result);
  return hn::IfThenElse(hn::Or(unit, minus_one), one, result);
}

}  // namespace detail

/// a^b
template <class V>
HWY_INLINE V pow(V a, V b) {
  using detail::set;
  const TagOf<V> d;
  if constexpr (kIsFloat<V>) {
    // The exponents people use; one comparison each beside a general power.
    if (hn::AllTrue(d, hn::Eq(b, set(b, 2)))) return hn::Mul(a, a);
    if (hn::AllTrue(d, hn::Eq(b, set(b, 3)))) return hn::Mul(hn::Mul(a, a), a);
    if (hn::AllTrue(d, hn::Eq(b, set(b, 0.5)))) return hn::Sqrt(a);
  }
  if constexpr (!kIsFloat<V>) {
    return detail::per_lane(a, b, detail::int_pow<LaneOf<V>>);
  } else if constexpr (kIsSingle<V>) {
    return detail::pow_single(a, b);
  } else {
    return detail::per_lane(a, b, [](double x, double y) { return std::pow(x, y); });
  }
}

template <class V>
HWY_INLINE V bitwise_and(V a, V b) {
  return hn::And(a, b);
}
template <class V>
HWY_INLINE V bitwise_or(V a, V b) {
  return hn::Or(a, b);
}
template <class V>
HWY_INLINE V bitwise_xor(V a, V b) {
  return hn::Xor(a, b);
}
template <class V>
HWY_INLINE V bitwise_not(V a) {
  return hn::Not(a);
}

/// a 2^b; 0 if b is not below the number of bits.
template <class V>
HWY_INLINE V lshift(V a, V b) {
  using T = LaneOf<V>;
  return detail::per_lane(a, b, [](T x, T n) {
    using U = std::make_unsigned_t<T>;
    return n < 0 || n >= T{8 * sizeof(T)} ? T{0} : static_cast<T>(static_cast<U>(x) << n);
  });
}
/// floor(a / 2^b); 0 or -1 if b is not below the number of bits.
template <class V>
HWY_INLINE V rshift(V a, V b) {
  using T = LaneOf<V>;
  constexpr T kLast = 8 * sizeof(T) - 1;
  return detail::per_lane(
      a, b, [](T x, T n) { return static_cast<T>(x >> (n < 0 || n > kLast ? kLast : n)); });
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
