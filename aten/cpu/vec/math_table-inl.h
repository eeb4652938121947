#if defined(TENON_ATEN_CPU_VEC_MATH_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_TABLE_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_TABLE_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_TABLE_INL_H_
#endif

// Piecewise polynomials for float on AVX-512, whose registers hold the coefficients of 16 or 32
// pieces: a lookup costs one permutation, so one short polynomial replaces two long ones and an
// exponential. Each piece approximates f(a) around its centre by Remez exchange, powers lowest
// first. The piece at 0 has its centre there and no constant term, which keeps the relative error
// small.

#include "aten/cpu/vec/math_basic-inl.h"

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m::detail {

using Single = hn::Vec<hn::ScalableTag<float>>;

/// erf: pieces of width 33/128 around its multiples, 0 <= a < 3.99: 2^-30
HWY_INLINE Single erf_by_pieces(Single x) {
  static constexpr float kTable[7][16] = {
      {0x0p+0f, 0x1.236bfp-2f, 0x1.117894p-1f, 0x1.73b102p-1f, 0x1.b5e63p-1f, 0x1.dd0788p-1f,
       0x1.f14e82p-1f, 0x1.fa84fep-1f, 0x1.fe308p-1f, 0x1.ff789ep-1f, 0x1.ffdd18p-1f, 0x1.fff81p-1f,
       0x1.fffe68p-1f, 0x1.ffffb8p-1f, 0x1.fffff4p-1f, 0x1.fffffep-1f},
      {0x1.06eba8p-3f, 0x1.0e4a08p+0f, 0x1.bada5ap-1f, 0x1.3da26ep-1f, 0x1.8eed38p-2f,
       0x1.b6a856p-3f, 0x1.a64de6p-4f, 0x1.63f3f4p-5f, 0x1.06ae12p-6f, 0x1.536fc2p-8f,
       0x1.8005f6p-10f, 0x1.7c62aep-12f, 0x1.49e1ap-14f, 0x1.f4f1acp-17f, 0x1.4d02cap-19f,
       0x1.83a32cp-22f},
      {-0x1.1ad2ecp-25f, -0x1.16bc5p-2f, -0x1.c8b12cp-2f, -0x1.eb5742p-2f, -0x1.9b64a2p-2f,
       -0x1.1aba8p-2f, -0x1.46a04p-3f, -0x1.413122p-4f, -0x1.0ee382p-5f, -0x1.89cca4p-7f,
       -0x1.ef07a6p-9f, -0x1.0dafecp-10f, -0x1.fe48e2p-13f, -0x1.a3bc52p-15f, -0x1.2c7d52p-17f,
       -0x1.76c3e2p-20f},
      {-0x1.81267ep-2f, -0x1.387962p-2f, -0x1.147f7ep-3f, 0x1.4cb182p-5f, 0x1.2bb522p-3f,
       0x1.53b83p-3f, 0x1.0a73a2p-3f, 0x1.471d38p-4f, 0x1.48b27ap-5f, 0x1.144b28p-6f,
       0x1.896774p-8f, 0x1.de2478p-10f, 0x1.f2aa66p-12f, 0x1.bfef4cp-14f, 0x1.5b8292p-16f,
       0x1.d2aa26p-19f},
      {-0x1.9f325cp-14f, 0x1.0a5956p-3f, 0x1.77bda8p-3f, 0x1.2765d6p-3f, 0x1.deead8p-5f,
       -0x1.e783f8p-7f, -0x1.84d1f2p-5f, -0x1.78348ep-5f, -0x1.f1589cp-6f, -0x1.fdd49ap-7f,
       -0x1.a8a24ep-8f, -0x1.2610d2p-9f, -0x1.573162p-11f, -0x1.5461ep-13f, -0x1.2093ap-15f,
       -0x1.a40532p-18f},
      {0x1.d444a6p-4f, 0x1.3e34ecp-4f, 0x1.760178p-9f, -0x1.cce8fp-5f, -0x1.14f28ap-4f,
       -0x1.585a9cp-5f, -0x1.41d10ep-7f, 0x1.27d8a8p-7f, 0x1.a7b17cp-7f, 0x1.333a88p-7f,
       0x1.411dd4p-8f, 0x1.080836p-9f, 0x1.626ed6p-11f, 0x1.8c1b68p-13f, 0x1.74fbp-15f,
       0x1.2a429p-17f},
      {-0x1.513da2p-7f, -0x1.4be256p-5f, -0x1.924d62p-5f, -0x1.878388p-6f, 0x1.ee5c1ap-8f,
       0x1.66057ep-6f, 0x1.200f3ep-6f, 0x1.bb01cap-8f, -0x1.9dfcb8p-11f, -0x1.937888p-9f,
       -0x1.42c8aep-9f, -0x1.537dd2p-10f, -0x1.0fa8dp-11f, -0x1.5cb3e8p-13f, -0x1.707e0cp-15f,
       -0x1.457f8ap-17f},
  };
  constexpr float kStep = 0x1.08p-2f;
  const Single magic = set(x, 0x1.8p23f);
  const Single a = hn::Abs(x);
  const Single b = clamp_above(a, 3.99f);
  const Single sum = hn::MulAdd(b, set(x, 1 / kStep), magic);  // its low bits are the piece
  const Single t = hn::NegMulAdd(hn::Sub(sum, magic), set(x, kStep), b);
  const __m512i piece = _mm512_castps_si512(sum.raw);
  const auto at = [&](int k) HWY_ATTR {
    return Single{_mm512_permutexvar_ps(piece, _mm512_loadu_ps(kTable[k]))};
  };
  const Single higher[] = {at(1), at(2), at(3), at(4), at(5), at(6)};
  // The piece at 0 is a + a q(a): its constant term is a itself.
  const auto other = hn::Gt(sum, magic);
  const Single p = hn::MulAdd(
      polynomial_in_halves(t, higher), t,
      Single{_mm512_mask_permutexvar_ps(b.raw, other.raw, piece, _mm512_loadu_ps(kTable[0]))});
  const Single y = hn::IfThenElse(hn::Gt(a, set(x, 3.95f)), set(x, 1), p);
  return hn::CopySign(y, x);
}

/// tanh: [0, 1/4), then four pieces per power of two, 0 <= a < 10: 2^-30. The first row holds the
/// centres. A piece's place is its number's low five bits, hence the rotation.
HWY_INLINE Single tanh_by_pieces(Single x) {
  static constexpr float kTable[8][32] = {
      {0x1.2p+1f, 0x1.6p+1f, 0x1.ap+1f, 0x1.ep+1f, 0x1.2p+2f, 0x1.6p+2f, 0x1.ap+2f, 0x1.ep+2f,
       0x1.2p+3f, 0x1.2p+3f, 0x1.2p+3f, 0x1.2p+3f, 0x1.2p+3f, 0x1.2p+3f, 0x1.2p+3f, 0x1.2p+3f,
       0x1.2p+3f, 0x1.2p+3f, 0x1.2p+3f, 0x0p+0f,   0x1.2p-2f, 0x1.6p-2f, 0x1.ap-2f, 0x1.ep-2f,
       0x1.2p-1f, 0x1.6p-1f, 0x1.ap-1f, 0x1.ep-1f, 0x1.2p+0f, 0x1.6p+0f, 0x1.ap+0f, 0x1.ep+0f},
      {0x1.f4bfd6p-1f, 0x1.fbd50ap-1f, 0x1.fe767ap-1f, 0x1.ff6f18p-1f, 0x1.ffdfa8p-1f,
       0x1.fffbap-1f,  0x1.ffff68p-1f, 0x1.ffffecp-1f, 0x1.fffffep-1f, 0x1.fffffep-1f,
       0x1.fffffep-1f, 0x1.fffffep-1f, 0x1.fffffep-1f, 0x1.fffffep-1f, 0x1.fffffep-1f,
       0x1.fffffep-1f, 0x1.fffffep-1f, 0x1.fffffep-1f, 0x1.fffffep-1f, 0x0p+0f,
       0x1.18a39ap-2f, 0x1.52c2c6p-2f, 0x1.8a87e2p-2f, 0x1.bfae6ap-2f, 0x1.05087p-1f,
       0x1.3157ep-1f,  0x1.5789p-1f,   0x1.77d838p-1f, 0x1.9e5cb6p-1f, 0x1.c278a6p-1f,
       0x1.d9c6fap-1f, 0x1.e8789ep-1f},
      {0x1.64108ap-5f,  0x1.09a7a8p-6f,  0x1.88ef6ep-8f,  0x1.21a7b4p-9f,  0x1.02c03cp-11f,
       0x1.183474p-14f, 0x1.2f61b4p-17f, 0x1.48779cp-20f, 0x1.060d7ep-24f, 0x1.060d7ep-24f,
       0x1.060d7ep-24f, 0x1.060d7ep-24f, 0x1.060d7ep-24f, 0x1.060d7ep-24f, 0x1.060d7ep-24f,
       0x1.060d7ep-24f, 0x1.060d7ep-24f, 0x1.060d7ep-24f, 0x1.060d7ep-24f, 0x1p+0f,
       0x1.d98b36p-1f,  0x1.c7f724p-1f,  0x1.b3ff2ep-1f,  0x1.9e23aep-1f,  0x1.7aeae6p-1f,
       0x1.49e6cp-1f,   0x1.197fcep-1f,  0x1.d834d2p-2f,  0x1.615002p-2f,  0x1.cea744p-3f,
       0x1.265e34p-3f,  0x1.6fcfa6p-4f},
      {-0x1.5c3d88p-5f,  -0x1.077e0cp-6f,  -0x1.87c16ap-8f,  -0x1.2155b8p-9f,  -0x1.02afb6p-11f,
       -0x1.1831e4p-14f, -0x1.2f612cp-17f, -0x1.48775cp-20f, -0x1.060248p-24f, -0x1.060248p-24f,
       -0x1.060248p-24f, -0x1.060248p-24f, -0x1.060248p-24f, -0x1.060248p-24f, -0x1.060248p-24f,
       -0x1.060248p-24f, -0x1.060248p-24f, -0x1.060248p-24f, -0x1.060248p-24f, -0x1.09bb4cp-19f,
       -0x1.038f72p-2f,  -0x1.2daf9ap-2f,  -0x1.4ff714p-2f,  -0x1.6a1d3ap-2f,  -0x1.825df8p-2f,
       -0x1.897d28p-2f,  -0x1.79c0ep-2f,   -0x1.5aa21cp-2f,  -0x1.1defacp-2f,  -0x1.970e08p-3f,
       -0x1.10646ep-3f,  -0x1.5ee892p-4f},
      {0x1.bbce5cp-6f,  0x1.599474p-7f,  0x1.03964p-8f,   0x1.80e728p-10f, 0x1.586062p-12f,
       0x1.7529ccp-15f, 0x1.94102ap-18f, 0x1.b57a8cp-21f, 0x1.5679dp-25f,  0x1.5679dp-25f,
       0x1.5679dp-25f,  0x1.5679dp-25f,  0x1.5679dp-25f,  0x1.5679dp-25f,  0x1.5679dp-25f,
       0x1.5679dp-25f,  0x1.5679dp-25f,  0x1.5679dp-25f,  0x1.5679dp-25f,  -0x1.553d5ap-2f,
       -0x1.e91ee6p-3f, -0x1.98587ep-3f, -0x1.4271f4p-3f, -0x1.d71f6ap-4f, -0x1.bd0b84p-5f,
       0x1.d76aa8p-7f,  0x1.072ccap-4f,  0x1.84349cp-4f,  0x1.c68d84p-4f,  0x1.97d80cp-4f,
       0x1.33df2p-4f,   0x1.a85c1cp-5f},
      {-0x1.93cf42p-7f,  -0x1.4e3b8p-8f,   -0x1.00765cp-9f,  -0x1.7f339ep-11f, -0x1.58112p-13f,
       -0x1.752462p-16f, -0x1.941616p-19f, -0x1.b582bp-22f,  -0x1.56f296p-26f, -0x1.56f296p-26f,
       -0x1.56f296p-26f, -0x1.56f296p-26f, -0x1.56f296p-26f, -0x1.56f296p-26f, -0x1.56f296p-26f,
       -0x1.56f296p-26f, -0x1.56f296p-26f, -0x1.56f296p-26f, -0x1.56f296p-26f, -0x1.85c66ap-10f,
       0x1.3316dcp-3f,   0x1.50369ap-3f,   0x1.5c35aep-3f,   0x1.5864eep-3f,   0x1.3a4d8ep-3f,
       0x1.e982bap-4f,   0x1.471734p-4f,   0x1.626a6ap-5f,   0x1.ac4ffap-9f,   -0x1.5dd73cp-6f,
       -0x1.9d2baep-6f,  -0x1.55d6e8p-6f},
      {0x1.04a09p-8f,   0x1.f5f538p-10f, 0x1.93f5acp-11f, 0x1.32dcbep-12f, 0x1.1e7cf6p-14f,
       0x1.3760ap-17f,  0x1.514c94p-20f, 0x1.6d36bp-23f,  0x1.490e64p-27f, 0x1.490e64p-27f,
       0x1.490e64p-27f, 0x1.490e64p-27f, 0x1.490e64p-27f, 0x1.490e64p-27f, 0x1.490e64p-27f,
       0x1.490e64p-27f, 0x1.490e64p-27f, 0x1.490e64p-27f, 0x1.490e64p-27f, 0x1.27c056p-3f,
       0x1.e3c8ep-5f,   0x1.05c566p-5f,  0x1.8484aep-8f,  -0x1.1920f8p-6f, -0x1.642b06p-5f,
       -0x1.f85e72p-5f, -0x1.00b0dap-4f, -0x1.b2aa8ap-5f, -0x1.067572p-5f, -0x1.37c134p-7f,
       0x1.6dafcp-10f,  0x1.2d87d8p-8f},
      {-0x1.76f3p-11f,   -0x1.1e09aap-11f, -0x1.ff155ep-13f, -0x1.917f56p-14f, -0x1.7bc042p-16f,
       -0x1.9e539ep-19f, -0x1.c10ce4p-22f, -0x1.e63f48p-25f, -0x1.b4364ap-29f, -0x1.b4364ap-29f,
       -0x1.b4364ap-29f, -0x1.b4364ap-29f, -0x1.b4364ap-29f, -0x1.b4364ap-29f, -0x1.b4364ap-29f,
       -0x1.b4364ap-29f, -0x1.b4364ap-29f, -0x1.b4364ap-29f, -0x1.b4364ap-29f, -0x1.3fa624p-5f,
       -0x1.25c9cep-4f,  -0x1.260b98p-4f,  -0x1.0f3738p-4f,  -0x1.cdf022p-5f,  -0x1.31f25ep-5f,
       -0x1.7ebfdp-7f,   0x1.d6e9f8p-8f,   0x1.15c6aap-6f,   0x1.2e8c9ep-6f,   0x1.67e866p-7f,
       0x1.0e6a66p-8f,   0x1.56b6f8p-11f},
  };
  const hn::ScalableTag<int32_t> di;
  const Single a = hn::Abs(x);
  const Single b = clamp_above(a, 9.99f);
  const auto piece = hn::Max(hn::ShiftRight<21>(hn::BitCast(di, b)), hn::Set(di, 0x1f3)).raw;
  const auto at = [&](int k) HWY_ATTR {
    return Single{
        _mm512_permutex2var_ps(_mm512_loadu_ps(kTable[k]), piece, _mm512_loadu_ps(kTable[k] + 16))};
  };
  const Single t = hn::Sub(b, at(0));
  const Single higher[] = {at(2), at(3), at(4), at(5), at(6), at(7)};
  const Single p = hn::MulAdd(polynomial_in_halves(t, higher), t, at(1));
  const Single y = hn::IfThenElse(hn::Gt(a, set(x, 9.1f)), set(x, 1), p);
  return hn::CopySign(y, x);
}

}  // namespace tenon::native::HWY_NAMESPACE::m::detail
HWY_AFTER_NAMESPACE();
#endif

#endif
