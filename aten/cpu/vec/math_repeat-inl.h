#if defined(TENON_ATEN_CPU_VEC_MATH_REPEAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_VEC_MATH_REPEAT_INL_H_
#undef TENON_ATEN_CPU_VEC_MATH_REPEAT_INL_H_
#else
#define TENON_ATEN_CPU_VEC_MATH_REPEAT_INL_H_
#endif

// What loops of the expression language need besides the functions of every kernel.

#include "aten/cpu/vec/math_basic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE::m {

/// Whether the mask holds for a lane.
template <class V, class M>
HWY_INLINE bool any(M mask) {
  return !hn::AllFalse(TagOf<V>(), mask);
}

}  // namespace tenon::native::HWY_NAMESPACE::m
HWY_AFTER_NAMESPACE();

#endif
