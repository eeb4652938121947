#if defined(TENON_ATEN_CPU_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_TRANSPOSE_INL_H_
#undef TENON_ATEN_CPU_TRANSPOSE_INL_H_
#else
#define TENON_ATEN_CPU_TRANSPOSE_INL_H_
#endif

// Matrices of which rows become columns. Included once per Highway target.

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// As many rows as a vector of 16 bytes has numbers: to[p * width + g] = from[g * step + p].
template <class T>
HWY_INLINE void transpose(T* HWY_RESTRICT to, int64_t width, const T* HWY_RESTRICT from,
                          int64_t step, int64_t depth) {
  constexpr int kN = 16 / sizeof(T);
  const hn::FixedTag<T, kN> d;
  int64_t p = 0;
  for (; p + kN <= depth; p += kN, from += kN, to += kN * width) {
    if constexpr (kN == 4) {
      const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + step);
      const auto c = hn::LoadU(d, from + 2 * step), e = hn::LoadU(d, from + 3 * step);
      const auto ac0 = hn::InterleaveLower(d, a, c), ac2 = hn::InterleaveUpper(d, a, c);
      const auto be0 = hn::InterleaveLower(d, b, e), be2 = hn::InterleaveUpper(d, b, e);
      hn::StoreU(hn::InterleaveLower(d, ac0, be0), d, to);
      hn::StoreU(hn::InterleaveUpper(d, ac0, be0), d, to + width);
      hn::StoreU(hn::InterleaveLower(d, ac2, be2), d, to + 2 * width);
      hn::StoreU(hn::InterleaveUpper(d, ac2, be2), d, to + 3 * width);
    } else {
      const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + step);
      hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
      hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + width);
    }
  }
  for (; p < depth; ++p, ++from, to += width) {
#pragma GCC unroll 4
    for (int g = 0; g < kN; ++g) to[g] = from[g * step];
  }
}
#endif

/// to[p * width + i] = from[i * step + p] for i < rows and p < depth.
template <class T>
void transpose_rows(T* HWY_RESTRICT to, int64_t width, const T* HWY_RESTRICT from, int64_t step,
                    int64_t rows, int64_t depth) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int kN = 16 / sizeof(T);
  for (; i + kN <= rows; i += kN) transpose(to + i, width, from + i * step, step, depth);
#endif
  for (; i < rows; ++i) {
    for (int64_t p = 0; p < depth; ++p) to[p * width + i] = from[i * step + p];
  }
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
