// Half and BFloat16 numbers in memory as vectors of float. Included once per Highway target.
#if defined(TENON_ATEN_ITERATOR_HALF_MEMORY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_ITERATOR_HALF_MEMORY_INL_H_
#undef TENON_ATEN_ITERATOR_HALF_MEMORY_INL_H_
#else
#define TENON_ATEN_ITERATOR_HALF_MEMORY_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// Where a class below cannot be used, numbers are converted one by one.
inline constexpr bool kHasBFloat16Memory = HWY_TARGET != HWY_SCALAR;
/// With SSE4 Highway's emulation truncates.
inline constexpr bool kHasHalfMemory = HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_SSE4;

#if HWY_TARGET != HWY_SCALAR
namespace memory {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;
using BitsTag = hn::Repartition<uint16_t, FloatTag>;  // of two vectors of float, rounded
using BitsVec = hn::Vec<BitsTag>;

struct BFloat16 {
  static constexpr uint16_t kOne = 0x3f80;
  static HWY_INLINE FloatVec load(const uint16_t* from) {
    const FloatTag d;
    const hn::RebindToUnsigned<FloatTag> bits;
    const hn::Rebind<uint16_t, FloatTag> half;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(half, from))));
  }
  /// To nearest, ties to even.
  static HWY_INLINE BitsVec rounded(FloatVec low, FloatVec high) {
    return hn::ConcatOdd(BitsTag(), in_upper_half(high), in_upper_half(low));
  }

 private:
  static HWY_INLINE BitsVec in_upper_half(FloatVec value) {
    const hn::RebindToUnsigned<FloatTag> d;
#if defined(__GNUC__) && HWY_ARCH_X86
    // GCC would load what comes from memory again for every use, and a load of 64 bytes is a cycle.
    asm("" : "+v"(value.raw));
#endif
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto near = hn::Add(hn::Add(bits, hn::Set(d, 0x7fff)), odd);
    const auto quiet = hn::Or(bits, hn::Set(d, 0x400000));
    const auto is_nan = hn::RebindMask(d, hn::IsNaN(value));
    return hn::BitCast(BitsTag(), hn::IfThenElse(is_nan, quiet, near));
  }
};

struct Half {
  static constexpr uint16_t kOne = 0x3c00;
  static HWY_INLINE FloatVec load(const uint16_t* from) {
    const hn::Rebind<hwy::float16_t, FloatTag> half;
    return hn::PromoteTo(FloatTag(),
                         hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from)));
  }
  /// To nearest, ties to even.
  static HWY_INLINE BitsVec rounded(FloatVec low, FloatVec high) {
    const hn::Rebind<hwy::float16_t, FloatTag> half;
    const hn::Rebind<uint16_t, FloatTag> bits;
    return hn::Combine(BitsTag(), hn::BitCast(bits, hn::DemoteTo(half, high)),
                       hn::BitCast(bits, hn::DemoteTo(half, low)));
  }
};

}  // namespace memory
#endif

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
