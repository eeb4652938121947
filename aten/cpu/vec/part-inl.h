// The end of a row: fewer elements than a vector. Included once per Highway target.
#if defined(TENON_ATEN_CPU_VEC_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_PART_INL_H_
#undef TENON_ATEN_CPU_VEC_PART_INL_H_
#else
#define TENON_ATEN_CPU_VEC_PART_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The `count` elements at p, fewer than a vector, then `rest`; what lies beyond them is not
/// touched.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_part(D d, const T* p, size_t count, T rest) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  // Masks are of the width of float and double everywhere; narrower ones would be emulated by AVX2.
  if constexpr (sizeof(T) >= 4 || HWY_TARGET <= HWY_AVX3) {
    const auto mask = hn::FirstN(d, count);
    return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, p), hn::Set(d, rest));
  }
#endif
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) buffer[i] = i < count ? p[i] : rest;
  return hn::Load(d, buffer);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_part(hn::Vec<D> v, D d, T* p, size_t count) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  if constexpr (sizeof(T) >= 4 || HWY_TARGET <= HWY_AVX3) {
    return hn::BlendedStore(v, hn::FirstN(d, count), d, p);
  }
#endif
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(v, d, buffer);
  for (size_t i = 0; i < count; ++i) p[i] = buffer[i];
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
