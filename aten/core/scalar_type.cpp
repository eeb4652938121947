#include "aten/core/scalar_type.h"

#include <atomic>
#include <utility>

namespace tenon {
namespace {

std::atomic<ScalarType> default_dtype{ScalarType::Float};

enum Category { kBoolean, kInteger, kReal, kComplexNumber };

Category category_of(ScalarType t) {
  if (t == ScalarType::Bool) return kBoolean;
  if (is_integral(t, false)) return kInteger;
  return is_complex(t) ? kComplexNumber : kReal;
}

}  // namespace

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType t) {
  TENON_CHECK_TYPE(is_floating_point(t) && !is_storage_only(t),
                   "[set_default_dtype] only floating-point types can be the default, got ", t);
  default_dtype = t;
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  // Wide unsigned integers give way to what is no integer, and hold booleans.
  if (is_wide_unsigned(b)) std::swap(a, b);
  if (is_wide_unsigned(a)) {
    if (b == ScalarType::Bool) return a;
    if ((is_floating_point(b) && !is_float8(b)) || is_complex(b)) return b;
  }
  if (b == ScalarType::ComplexHalf) std::swap(a, b);
  if (a == ScalarType::ComplexHalf && !is_float8(b)) {
    if (is_integral(b, true) || b == ScalarType::Half) return a;
    return is_complex(b) ? b : to_complex(b);
  }
  TENON_CHECK_NOT_IMPLEMENTED(!is_storage_only(a) && !is_storage_only(b),
                              "type promotion is not implemented for ", a, " and ", b);
  const Category ca = category_of(a);
  const Category cb = category_of(b);
  if (ca < cb) return promote_types(b, a);
  if (ca != cb) {
    // The higher category wins; a complex type must also hold the precision of a real one.
    if (ca == kComplexNumber && cb == kReal) {
      return b == ScalarType::Double ? ScalarType::ComplexDouble : a;
    }
    return a;
  }
  switch (ca) {
  case kBoolean: return a;
  case kInteger:
    // Unsigned Byte fits into no signed type of its own size.
    if (a == ScalarType::Byte) return b == ScalarType::Char ? ScalarType::Short : b;
    if (b == ScalarType::Byte) return a == ScalarType::Char ? ScalarType::Short : a;
    return std::max(a, b);
  case kReal:
    if (a == ScalarType::Double || b == ScalarType::Double) return ScalarType::Double;
    return ScalarType::Float;  // Float with anything, or Half with BFloat16
  case kComplexNumber: break;
  }
  return ScalarType::ComplexDouble;
}

bool can_cast(ScalarType from, ScalarType to) {
  if (to == ScalarType::Bool) return from == ScalarType::Bool;
  return category_of(from) <= category_of(to);
}

}  // namespace tenon
