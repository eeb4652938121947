#if defined(TENON_ATEN_CPU_VEC_MATH_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_EXP_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_EXP_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_EXP_INL_H_
#endif

// Exponentials, logarithms, square roots, error functions and what is built from them.
//
// Polynomials: Remez exchange in 40-digit arithmetic on the stated interval, minimising the
// relative error of the whole function; coefficients rounded to the type, lowest power first. The
// error given is that of the exact polynomial.

#include "aten/cpu/vec/math_basic-inl.h"
#include "aten/cpu/vec/math_table-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m {
namespace detail {

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float kMagic = 0x1.8p23f;  // adding it rounds to an integer
  static constexpr float kLog2e = 0x1.715476p+0f;
  static constexpr float kLn2Hi = 0x1.62p-1f, kLn2Lo = 0x1.c85fdfp-10f;  // k * hi is exact
  static constexpr float kLowest = -104, kHighest = 90;
  static constexpr float kLowest2 = -151, kHighest2 = 129;
  static constexpr float kHighestExpm1 = 89, kTanhLimit = 9.5f;
  // exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2: 2^-28.3
  static constexpr float kExp[] = {0x1.fffffcp-2f, 0x1.555490p-3f, 0x1.5558f8p-5f, 0x1.123b04p-7f,
                                   0x1.6a225ep-10f};
  // expm1(r) = r + r^2 q(r): 2^-31
  static constexpr float kExpm1[] = {0x1.000000p-1f, 0x1.555556p-3f,  0x1.55546ep-5f,
                                     0x1.1110aap-7f, 0x1.6da8f2p-10f, 0x1.a17f64p-13f};
  // 2^r = 1 + r q(r), |r| <= 1/2: 2^-27.9
  static constexpr float kExp2[] = {0x1.62e432p-1f, 0x1.ebfbe0p-3f,  0x1.c6ae26p-5f,
                                    0x1.3b29e2p-7f, 0x1.5f8b0ep-10f, 0x1.446deap-13f};
  // sinh(x) = x + x^3 q(x^2), |x| <= 1: 2^-34
  static constexpr float kSinh[] = {0x1.555556p-3f, 0x1.111134p-7f, 0x1.9ffe92p-13f,
                                    0x1.7a15b2p-19f};
};

template <>
struct ExpConstants<double> {
  static constexpr double kMagic = 0x1.8p52;
  static constexpr double kLog2e = 0x1.71547652b82fep+0;
  static constexpr double kLn2Hi = 0x1.62e42fefap-1, kLn2Lo = 0x1.cf79abc9e3b3ap-40;
  static constexpr double kLowest = -746, kHighest = 711;
  static constexpr double kLowest2 = -1076, kHighest2 = 1025;
  static constexpr double kHighestExpm1 = 710, kTanhLimit = 20;
  // 2^-63
  static constexpr double kExp[] = {
      0x1.0000000000000p-1,  0x1.555555555555bp-3,  0x1.555555555554dp-5,  0x1.111111110eb2ap-7,
      0x1.6c16c16c19368p-10, 0x1.a01a01b45e577p-13, 0x1.a01a019999d56p-16, 0x1.71dded507f0cbp-19,
      0x1.27e4f4faeaa13p-22, 0x1.af717b9fe00ecp-26, 0x1.1f4eba5fd94f2p-29};
  // 2^-61.7
  static constexpr double kExpm1[] = {
      0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.555555555553ep-5,  0x1.111111110f673p-7,
      0x1.6c16c16c1f282p-10, 0x1.a01a01b001f70p-13, 0x1.a01a017b5ae9dp-16, 0x1.71ddf7fe4a9e3p-19,
      0x1.27e536a0a0775p-22, 0x1.af5f68a6708c4p-26, 0x1.1ee8808ff4f5fp-29};
  // 2^-63.9
  static constexpr double kExp2[] = {
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0d6p-5,  0x1.3b2ab6fba4ea9p-7,
      0x1.5d87fe78a11abp-10, 0x1.430912f859497p-13, 0x1.ffcbfc7b2f375p-17, 0x1.62c0229b80486p-20,
      0x1.b524d0076bac9p-24, 0x1.e4cd9a374dfd0p-28, 0x1.ea157b78676a4p-32, 0x1.c6dc7aee1d8cdp-36};
  // 2^-63
  static constexpr double kSinh[] = {
      0x1.5555555555556p-3,  0x1.11111111110a6p-7,  0x1.a01a01a02899cp-13, 0x1.71de3a465b256p-19,
      0x1.ae64671b16141p-26, 0x1.611a561dddfb9p-33, 0x1.b4c75ac5a323ep-41};
};

template <class V>
using ExpOf = ExpConstants<LaneOf<V>>;

/// A number rounded to an integer by adding the magic constant; the sum's low bits are the integer.
template <class V>
struct Rounded {
  V sum;
  HWY_INLINE V value() const { return hn::Sub(sum, set(sum, ExpOf<V>::kMagic)); }
  HWY_INLINE IntOf<V> bits() const {
    const IntTagOf<V> di;
    return hn::Sub(hn::BitCast(di, sum), hn::BitCast(di, set(sum, ExpOf<V>::kMagic)));
  }
};

/// 2^k for integers k of the normal range.
template <class V>
HWY_INLINE V pow2(IntOf<V> k) {
  constexpr int kMantissa = hwy::MantissaBits<LaneOf<V>>();
  constexpr int kBias = kIsSingle<V> ? 127 : 1023;
  const IntTagOf<V> di;
  return hn::BitCast(TagOf<V>(), hn::ShiftLeft<kMantissa>(hn::Add(k, hn::Set(di, kBias))));
}

/// 2^(k + kOffset) likewise. The shift drops the magic constant's own bits.
template <int kOffset, class V>
HWY_INLINE V pow2_rounded(Rounded<V> k) {
  using Int = LaneOf<IntOf<V>>;
  constexpr int kMantissa = hwy::MantissaBits<LaneOf<V>>();
  constexpr Int kBias = Int{(kIsSingle<V> ? 127 : 1023) + kOffset} << kMantissa;
  const IntTagOf<V> di;
  const IntOf<V> shifted = hn::ShiftLeft<kMantissa>(hn::BitCast(di, k.sum));
  return hn::BitCast(TagOf<V>(), hn::Add(shifted, hn::Set(di, kBias)));
}

/// y * 2^(k + bias) with one rounding, overflow to infinity and gradual underflow.
template <int kBias, class V>
HWY_INLINE V scale(V y, Rounded<V> k) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  V n = k.value();
  if constexpr (kBias != 0) n = hn::Add(n, set(n, kBias));
  if constexpr (kIsSingle<V>) {
    return V{_mm512_scalef_ps(y.raw, n.raw)};
  } else {
    return V{_mm512_scalef_pd(y.raw, n.raw)};
  }
#else
  // Two factors, because 2^k alone leaves the normal range at both ends.
  IntOf<V> n = k.bits();
  if constexpr (kBias != 0) n = hn::Add(n, hn::Set(IntTagOf<V>(), kBias));
  const IntOf<V> half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(y, pow2<V>(half)), pow2<V>(hn::Sub(n, half)));
#endif
}

/// x = k ln2 + r; returns k, and r through the reference.
template <class V>
HWY_INLINE Rounded<V> reduce_exp(V x, V& r) {
  using C = ExpOf<V>;
  const Rounded<V> k{hn::MulAdd(x, set(x, C::kLog2e), set(x, C::kMagic))};
  const V n = k.value();
  r = hn::NegMulAdd(n, set(x, C::kLn2Hi), x);
  r = hn::NegMulAdd(n, set(x, C::kLn2Lo), r);
  return k;
}

/// exp(r) for r as reduce_exp() leaves it
template <class V>
HWY_INLINE V exp_reduced(V r) {
  const V one = set(r, 1);
  return hn::MulAdd(r, hn::MulAdd(r, polynomial(r, ExpOf<V>::kExp), one), one);
}

/// 2^kBias exp(x), x from kLowest to kHighest or NaN
template <int kBias, class V>
HWY_INLINE V exp_clamped(V x) {
  V r;
  const Rounded<V> k = reduce_exp(x, r);
  return scale<kBias>(exp_reduced(r), k);
}

/// 2^kBias exp(x)
template <int kBias, class V>
HWY_INLINE V exp_scaled(V x) {
  using C = ExpOf<V>;
  return exp_clamped<kBias>(clamp_below(clamp_above(x, C::kHighest), C::kLowest));
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// exp(x) for x likewise. x = k ln2 / 16 + r, and the sixteen powers of 2 from 1 up are in a
/// register: two multiplications fewer than without. Within 0.98 ulp.
template <class V>
HWY_INLINE V exp_by_sixteenths(V x) {
  using C = ExpConstants<float>;
  constexpr float kMagic = 0x1.8p19f;  // rounds to sixteenths
  HWY_ALIGN static constexpr float kPowers[16] = {
      0x1.000000p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
      0x1.306fe0p+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
      0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
      0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  const V sum = hn::MulAdd(x, set(x, C::kLog2e), set(x, kMagic));
  const V k = hn::Sub(sum, set(x, kMagic));
  const V r = hn::NegMulAdd(k, set(x, C::kLn2Lo), hn::NegMulAdd(k, set(x, C::kLn2Hi), x));
  // Only the lowest four bits choose.
  const V power{_mm512_permutexvar_ps(_mm512_castps_si512(sum.raw), _mm512_load_ps(kPowers))};
  // expm1(r) = r (1 + r q(r)), |r| <= ln(2)/32: 2^-29.2
  const V q = hn::MulAdd(set(x, 0x1.55559ap-3f), r, set(x, 0x1.00021ep-1f));
  const V expm1 = hn::Mul(hn::MulAdd(q, r, set(x, 1)), r);
  return V{_mm512_scalef_ps(hn::MulAdd(power, expm1, power).raw, k.raw)};  // by 2^floor(k)
}
#endif

/// 2^x for x in [-1021, 1023] (or [-125, 127]), not clamped.
template <class V>
HWY_INLINE V exp2_in_range(V x) {
  using C = ExpOf<V>;
  const Rounded<V> k{hn::Add(x, set(x, C::kMagic))};
  const V r = hn::Sub(x, k.value());
  const V y = hn::MulAdd(r, polynomial(r, C::kExp2), set(x, 1));
  return hn::Mul(y, pow2_rounded<0>(k));
}

/// expm1(x) for x below the overflow threshold and above about -80, within 1.5 ulp.
template <class V>
HWY_INLINE V expm1_in_range(V x) {
  using C = ExpOf<V>;
  V r;
  const Rounded<V> k = reduce_exp(x, r);
  const V p = hn::MulAdd(hn::Mul(r, r), polynomial(r, C::kExpm1), r);
  // 2 (h p + (h - 1/2)) with h = 2^(k-1): exact doubling keeps 2^k in range at the top.
  const V h = pow2_rounded<-1>(k);
  const V y = hn::MulAdd(h, p, hn::Sub(h, set(x, 0.5)));
  return hn::Add(y, y);
}

/// The same within 1 ulp: keeps what the reduction and the leading sum lose.
template <class V>
HWY_INLINE V expm1_precise(V x) {
  using C = ExpOf<V>;
  const Rounded<V> k{hn::MulAdd(x, set(x, C::kLog2e), set(x, C::kMagic))};
  const V n = k.value();
  const V high = hn::NegMulAdd(n, set(x, C::kLn2Hi), x);
  const V r = hn::NegMulAdd(n, set(x, C::kLn2Lo), high);
  const V lost = hn::NegMulAdd(n, set(x, C::kLn2Lo), hn::Sub(high, r));
  const V p = hn::MulAdd(hn::Mul(r, r), polynomial(r, C::kExpm1), lost);
  const V h = pow2_rounded<-1>(k);
  const V a = hn::Sub(h, set(x, 0.5)), b = hn::Mul(h, r);
  const V sum = hn::Add(a, b);
  const V y = hn::Add(sum, hn::MulAdd(h, p, hn::Sub(b, hn::Sub(sum, a))));
  return hn::Add(y, y);
}

// ---- logarithm ------------------------------------------------------------------------------

/// log(x) = e ln2 + f + t, where 1 + f is x's mantissa in [3/4, 3/2) and f + t = log(1 + f).
template <class V>
struct LogParts {
  V e, f, t;
};

template <class V>
HWY_INLINE V log1p_tail(V f) {
  if constexpr (kIsSingle<V>) {
    // log(1 + f) = f - f^2/2 + f^3 q(f), -1/4 <= f <= 1/2: 2^-28
    static constexpr float kLog[] = {0x1.555594p-2f,  -0x1.000062p-2f, 0x1.99745ap-3f,
                                     -0x1.54f304p-3f, 0x1.2779acp-3f,  -0x1.0b9d1cp-3f,
                                     0x1.ba6768p-4f,  -0x1.cff0eep-5f, 0x1.2e72dap-7f};
    return hn::Mul(hn::Mul(f, f), hn::MulAdd(f, polynomial(f, kLog), set(f, -0.5)));
  } else {
    // With s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2 s + s z q(z), z = s^2: 2^-62.7; rewritten
    // as f - (f^2/2 - s (f^2/2 + z q(z))) so that the leading term is exact.
    static constexpr double kLog[] = {
        0x1.555555555554fp-1, 0x1.999999999c15dp-2, 0x1.24924921e5edfp-2, 0x1.c71c748e57e60p-3,
        0x1.745c4b2d5b93cp-3, 0x1.3b35b6b5402a5p-3, 0x1.0dcc396bd85f8p-3, 0x1.1b7d669dbae51p-3};
    const V s = hn::Div(f, hn::Add(f, set(f, 2)));
    const V z = hn::Mul(s, s);
    const V half_square = hn::Mul(hn::Mul(f, f), set(f, 0.5));
    return hn::MulSub(s, hn::MulAdd(z, polynomial(z, kLog), half_square), half_square);
  }
}

/// Exponent and mantissa of positive normal x: x = m 2^e with m in [3/4, 3/2).
template <class V>
HWY_INLINE void split_normal(V x, IntOf<V>& e, V& m) {
  constexpr int kMantissa = hwy::MantissaBits<LaneOf<V>>();
  const IntTagOf<V> di;
  const auto bits = hn::BitCast(di, x);
  e = hn::ShiftRight<kMantissa>(hn::Sub(bits, hn::BitCast(di, set(x, 0.75))));
  m = hn::BitCast(TagOf<V>(), hn::Sub(bits, hn::ShiftLeft<kMantissa>(e)));
}

template <class V>
HWY_INLINE LogParts<V> split_log(V x) {
  LogParts<V> parts;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // getexp and getmant give -inf and 1 for 0, inf and 1 for inf, NaN for negative numbers.
  V m, low;
  if constexpr (kIsSingle<V>) {
    m = V{_mm512_getmant_ps(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
    parts.e = V{_mm512_getexp_ps(x.raw)};
    low = V{_mm512_getexp_ps(m.raw)};
  } else {
    m = V{_mm512_getmant_pd(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
    parts.e = V{_mm512_getexp_pd(x.raw)};
    low = V{_mm512_getexp_pd(m.raw)};
  }
  parts.e = hn::Sub(parts.e, low);
#else
  const TagOf<V> d;
  const auto denormal = hn::Lt(x, set(x, std::numeric_limits<LaneOf<V>>::min()));
  constexpr double kUp = kIsSingle<V> ? 0x1p24 : 0x1p53;
  IntOf<V> e;
  V m;
  split_normal(hn::IfThenElse(denormal, hn::Mul(x, set(x, kUp)), x), e, m);
  parts.e =
      hn::Sub(hn::ConvertTo(d, e), hn::IfThenElseZero(denormal, set(x, kIsSingle<V> ? 24 : 53)));
#endif
  parts.f = hn::Sub(m, set(x, 1));
  parts.t = log1p_tail(parts.f);
  return parts;
}

/// The values of log at 0, infinity, NaN and below 0, where the target's split does not give them.
template <class V>
HWY_INLINE V fix_log(V y, [[maybe_unused]] V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return y;
#else
  const V zero = set(x, 0), inf = hn::Inf(TagOf<V>());
  const V nan_or_inf = hn::IfThenElse(hn::Lt(x, zero), hn::NaN(TagOf<V>()), x);
  const auto ordinary = hn::And(hn::Gt(x, zero), hn::Lt(x, inf));
  return hn::IfThenElse(ordinary, y, hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), nan_or_inf));
#endif
}

template <class V>
HWY_INLINE V sum_log(const LogParts<V>& p) {
  using C = ExpOf<V>;
  const V low = hn::MulAdd(p.e, set(p.e, C::kLn2Lo), p.t);
  return hn::MulAdd(p.e, set(p.e, C::kLn2Hi), hn::Add(p.f, low));
}

}  // namespace detail

/// exp(x) where x is not positive; NaN where it is NaN.
template <class V>
HWY_INLINE V exp_nonpositive(V x) {
  x = detail::clamp_below(x, detail::ExpOf<V>::kLowest);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kIsSingle<V>) return detail::exp_by_sixteenths(x);
#endif
  return detail::exp_clamped<0>(x);
}

template <class V>
HWY_INLINE V exp(V x) {
  return exp_nonpositive(detail::clamp_above(x, detail::ExpOf<V>::kHighest));
}

template <class V>
HWY_INLINE V exp2(V x) {
  using C = detail::ExpOf<V>;
  x = detail::clamp_below(detail::clamp_above(x, C::kHighest2), C::kLowest2);
  const detail::Rounded<V> k{hn::Add(x, detail::set(x, C::kMagic))};
  const V r = hn::Sub(x, k.value());
  return detail::scale<0>(hn::MulAdd(r, detail::polynomial(r, C::kExp2), detail::set(x, 1)), k);
}

template <class V>
HWY_INLINE V expm1(V x) {
  using C = detail::ExpOf<V>;
  const V c = detail::clamp_below(detail::clamp_above(x, C::kHighestExpm1), -45);
  // Denormals would lose their last bit to the halving inside.
  const auto tiny = hn::Lt(hn::Abs(x), detail::set(x, 0x1p-60));
  return hn::CopySign(hn::IfThenElse(tiny, x, detail::expm1_precise(c)), x);
}

template <class V>
HWY_INLINE V log(V x) {
  return detail::fix_log(detail::sum_log(detail::split_log(x)), x);
}

/// log(1 + x)
template <class V>
HWY_INLINE V log1p(V x) {
  using detail::set;
  const V u = hn::Add(x, set(x, 1));
  detail::LogParts<V> p;
  // The mantissa of 1 + x minus 1, from x itself: x 2^-e + (2^-e - 1), rounded once.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  V m, n;
  if constexpr (kIsSingle<V>) {
    m = V{_mm512_getmant_ps(u.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
    n = hn::Sub(V{_mm512_getexp_ps(m.raw)}, V{_mm512_getexp_ps(u.raw)});
    p.f = hn::Add(V{_mm512_scalef_ps(x.raw, n.raw)},
                  hn::Sub(V{_mm512_scalef_ps(set(x, 1).raw, n.raw)}, set(x, 1)));
  } else {
    m = V{_mm512_getmant_pd(u.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
    n = hn::Sub(V{_mm512_getexp_pd(m.raw)}, V{_mm512_getexp_pd(u.raw)});
    p.f = hn::Add(V{_mm512_scalef_pd(x.raw, n.raw)},
                  hn::Sub(V{_mm512_scalef_pd(set(x, 1).raw, n.raw)}, set(x, 1)));
  }
  p.f = hn::IfThenZeroElse(isinf(n), p.f);
  p.e = hn::Neg(n);
#else
  IntOf<V> e;
  V m;
  detail::split_normal(u, e, m);
  const V s = detail::pow2<V>(hn::Neg(e));
  const V scaled = hn::Add(hn::Mul(x, s), hn::Sub(s, set(x, 1)));
  // 2^-e is not representable at the very top, where 1 is below x's last bit anyway.
  p.f = hn::IfThenElse(hn::Gt(u, set(x, 0x1p60)), hn::Sub(m, set(x, 1)), scaled);
  p.e = hn::ConvertTo(TagOf<V>(), e);
#endif
  p.t = detail::log1p_tail(p.f);
  return hn::CopySign(detail::fix_log(detail::sum_log(p), u), x);
}

template <class V>
HWY_INLINE V log2(V x) {
  using detail::set;
  constexpr double kHi = kIsSingle<V> ? 0x1.715476p+0 : 0x1.71547652b82fep+0;
  constexpr double kLo = kIsSingle<V> ? 0x1.4ae0bf85ddf44p-26 : 0x1.777d0ffda0d24p-56;
  const detail::LogParts<V> p = detail::split_log(x);
  const V low = hn::MulAdd(p.t, set(x, kHi), hn::Mul(p.f, set(x, kLo)));
  // e + f / ln2 with its rounding errors: near x = 3/4 the two nearly cancel.
  const V product = hn::Mul(p.f, set(x, kHi));
  const V sum = hn::Add(p.e, product);
  V error = hn::Sub(product, hn::Sub(sum, p.e));
#if HWY_NATIVE_FMA
  error = hn::Add(error, hn::MulSub(p.f, set(x, kHi), product));
#endif
  const V y = hn::Add(sum, hn::Add(low, error));
  return detail::fix_log(hn::IfThenElse(isfinite(sum), y, sum), x);
}

template <class V>
HWY_INLINE V log10(V x) {
  using detail::set;
  constexpr double kHi = kIsSingle<V> ? 0x1.bcb7b2p-2 : 0x1.bcb7b1526e50ep-2;
  constexpr double kLo = kIsSingle<V> ? -0x1.5b235e39ab2a9p-27 : 0x1.95355baaafad3p-57;
  constexpr double kEHi = kIsSingle<V> ? 0x1.344p-2 : 0x1.34413509ep-2;
  constexpr double kELo = kIsSingle<V> ? 0x1.3509f79fef312p-18 : 0x1.79fef311f12b3p-38;
  const detail::LogParts<V> p = detail::split_log(x);
  V low = hn::MulAdd(p.t, set(x, kHi), hn::Mul(p.f, set(x, kLo)));
  low = hn::MulAdd(p.e, set(x, kELo), low);
  return detail::fix_log(hn::MulAdd(p.e, set(x, kEHi), hn::MulAdd(p.f, set(x, kHi), low)), x);
}

template <class V>
HWY_INLINE V sqrt(V x) {
  return hn::Sqrt(x);
}

/// 1 / sqrt(x); rsqrt(±0) = ±inf
template <class V>
HWY_INLINE V rsqrt(V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kIsSingle<V>) {
    // One step of third order from 14 bits: y (1 + e/2 + 3 e^2/8), e = 1 - x y^2.
    const V y{_mm512_rsqrt14_ps(x.raw)};
    const V e = hn::NegMulAdd(hn::Mul(x, y), y, detail::set(x, 1));
    const V c = hn::MulAdd(e, detail::set(x, 0.375), detail::set(x, 0.5));
    const V better = hn::MulAdd(hn::Mul(y, e), c, y);
    return hn::IfThenElse(hn::Eq(e, e), better, y);  // 0 and inf have no residual
  }
#endif
#if HWY_NATIVE_FMA
  // Residuals of tiny numbers would underflow.
  constexpr double kTiny = kIsSingle<V> ? 0x1p-100 : 0x1p-900;
  const auto tiny = hn::Lt(x, detail::set(x, kTiny));
  x = hn::IfThenElse(tiny, hn::Mul(x, detail::set(x, 0x1p60)), x);
#endif
  const V s = hn::Sqrt(x);
  V y = hn::CopySign(hn::Div(detail::set(x, 1), s), x);
#if HWY_NATIVE_FMA
  // Two roundings so far: add back the residuals of the root and of the division.
  const V of_root = hn::Mul(hn::Mul(hn::NegMulAdd(s, s, x), y), y);
  const V of_quotient = hn::NegMulAdd(s, y, detail::set(x, 1));
  const V e = hn::MulAdd(of_root, detail::set(x, -0.5), of_quotient);
  y = hn::IfThenElse(hn::Eq(e, e), hn::MulAdd(y, e, y), y);
  y = hn::IfThenElse(tiny, hn::Mul(y, detail::set(x, 0x1p30)), y);
#endif
  return y;
}

/// 1 / (1 + exp(-x))
template <class V>
HWY_INLINE V sigmoid(V x) {
  using detail::set;
  using C = detail::ExpOf<V>;
  const V sign_bit = hn::SignBit(TagOf<V>());
  const V one = set(x, 1);
  V r;
  const detail::Rounded<V> k =
      detail::reduce_exp(detail::clamp_below(hn::Or(x, sign_bit), C::kLowest), r);
  const V e = detail::scale<0>(detail::exp_reduced(r), k);
  const auto negative = hn::Lt(x, set(x, 0));
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kIsSingle<V>) {
    // AVX-512's division of floats takes as long as thirty multiplications on some machines; a
    // Newton step from 14 bits takes three and costs a quarter of an ulp.
    const V d = hn::Add(e, one);
    const V near{_mm512_rcp14_ps(d.raw)};
    const V inverse = hn::MulAdd(near, hn::NegMulAdd(d, near, one), near);
    return V{_mm512_mask_mul_ps(inverse.raw, negative.raw, inverse.raw, e.raw)};
  }
#endif
  return hn::Div(hn::IfThenElse(negative, e, one), hn::Add(e, one));
}

template <class V>
HWY_INLINE V tanh(V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kIsSingle<V>) return detail::tanh_by_pieces(x);
#endif
  using C = detail::ExpOf<V>;
  const V a = detail::clamp_above(hn::Abs(x), C::kTanhLimit);
  const V t = detail::expm1_in_range(hn::Add(a, a));
  const V d = hn::Add(t, detail::set(x, 2));
#if HWY_NATIVE_FMA
  // t / (t + 2), less the rounding errors of the sum and of the quotient.
  const V inverse = hn::Div(detail::set(x, 1), d);
  const V q = hn::Mul(t, inverse);
  const V lost = hn::Sub(t, hn::Sub(d, detail::set(x, 2)));
  const V residual = hn::NegMulAdd(q, lost, hn::NegMulAdd(q, d, t));
  return hn::CopySign(hn::MulAdd(residual, inverse, q), x);
#else
  return hn::CopySign(hn::Div(t, d), x);
#endif
}

template <class V>
HWY_INLINE V cosh(V x) {
  const V h = detail::exp_scaled<-1>(hn::Abs(x));
  return hn::Add(h, hn::Div(detail::set(x, 0.25), h));
}

template <class V>
HWY_INLINE V sinh(V x) {
  using C = detail::ExpOf<V>;
  const V a = hn::Abs(x);
  const V h = detail::exp_scaled<-1>(a);
  const V large = hn::CopySign(hn::Sub(h, hn::Div(detail::set(x, 0.25), h)), x);
  const V z = hn::Mul(x, x);
  const V small = hn::MulAdd(hn::Mul(x, z), detail::polynomial(z, C::kSinh), x);
  return hn::IfThenElse(hn::Lt(a, detail::set(x, 1)), small, large);
}

template <class V>
HWY_INLINE V erf(V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kIsSingle<V>) return detail::erf_by_pieces(x);
#endif
  using detail::set;
  const V a = hn::Abs(x);
  const V z = hn::Mul(x, x);
  if constexpr (kIsSingle<V>) {
    // x + x q(x^2), |x| <= 0.93: 2^-31
    static constexpr float kSmall[] = {0x1.06eba8p-3f,  -0x1.812742p-2f, 0x1.ce2e0ap-4f,
                                       -0x1.b80e90p-6f, 0x1.54c7f4p-8f,  -0x1.aa3f2cp-11f,
                                       0x1.5cd4a6p-14f};
    // 1 - 2^q(|x|), 0.91 <= |x| <= 3.95: 2^-34 absolute; beyond, erf rounds to 1.
    static constexpr float kLarge[] = {0x1.06133ep-12f, -0x1.a12942p+0f, -0x1.d3d678p-1f,
                                       -0x1.3fe2eep-3f, 0x1.28c4ecp-5f,  -0x1.8a0dc4p-8f,
                                       0x1.481e3ep-11f, -0x1.fd3c60p-16f};
    const V small = hn::MulAdd(x, detail::polynomial(z, kSmall), x);
    const V r = detail::polynomial(detail::clamp_above(a, 3.95f), kLarge);
    const V large = hn::Sub(set(x, 1), detail::exp2_in_range(r));
    return hn::IfThenElse(hn::Lt(a, set(x, 0.92f)), small, hn::CopySign(large, x));
  } else {
    // x + x q(x^2), |x| <= 1: 2^-62.7
    static constexpr double kSmall[] = {
        0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,
        -0x1.b82ce3128499ep-6,  0x1.565bcd0db032cp-8,   -0x1.c02db3d8eddf6p-11,
        0x1.f9a321a13147cp-14,  -0x1.f4d1df3aa27bcp-17, 0x1.b9def1adce669p-20,
        -0x1.5f1d373ee5ee3p-23, 0x1.f7a4171012eebp-27,  -0x1.386acee99aa7fp-30,
        0x1.0579cec326277p-34};
    // erfc(a) = exp(-a^2) q(u) / (1 + 2a), u = (a - 2) / (a + 2), 1 <= a <= 6: 2^-56.7
    static constexpr double kLarge[] = {
        0x1.46e80e2277953p+0,   -0x1.7bf5ec1700645p-4,  -0x1.5407bebf3253fp-3,
        0x1.4ffa1e14e32aep-3,   -0x1.bc2b956178b6fp-5,  -0x1.074234084a72dp-7,
        0x1.1dd2ec78f563fp-7,   0x1.4d4621edc1822p-10,  -0x1.7de510e592c32p-10,
        -0x1.dc6ac8c4f5feap-12, 0x1.b0c36ac710f76p-13,  0x1.3ce664e0a233fp-13,
        -0x1.8c691efba3f20p-20, -0x1.3558a6992b560p-15, -0x1.c0b7c8b9ad980p-17,
        0x1.5705efc30f28ap-18,  0x1.202121494ad95p-18};
    const V small = hn::MulAdd(x, detail::polynomial(z, kSmall), x);
    const V b = detail::clamp_above(a, 6.0);
    const V u = hn::Div(hn::Sub(b, set(x, 2)), hn::Add(b, set(x, 2)));
    const V e = detail::exp_scaled<0>(hn::Neg(hn::Mul(b, b)));
    const V c =
        hn::Div(hn::Mul(e, detail::polynomial(u, kLarge)), hn::MulAdd(b, set(x, 2), set(x, 1)));
    return hn::IfThenElse(hn::Lt(a, set(x, 1)), small, hn::CopySign(hn::Sub(set(x, 1), c), x));
  }
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
