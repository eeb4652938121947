#include "aten/iterator/number_fits.h"

#include <cmath>
#include <limits>

namespace tenon::native {
namespace {

template <class T>
bool integer_fits(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  const int64_t lowest = std::is_signed_v<T> ? static_cast<int64_t>(Limits::min())
                                             : -static_cast<int64_t>(Limits::max());
  if (value.is_integral(true)) {
    const int64_t v = value.toLong();
    return v >= lowest && v <= static_cast<int64_t>(Limits::max());
  }
  // The first number that is too large is a power of two, which double holds exactly.
  const double v = std::trunc(value.toDouble());
  return v >= static_cast<double>(Limits::min()) &&
         v < 2 * static_cast<double>(Limits::max() / 2 + 1);
}

bool real_fits(const Scalar& value, double largest) {
  const double v = value.toDouble();
  return !std::isfinite(v) || std::fabs(v) <= largest;
}

}  // namespace

bool number_fits(const Scalar& value, ScalarType type) {
  if (type == kBool || is_complex(type)) return true;
  if (value.is_complex() && value.toComplexDouble().imag() != 0) return false;
  switch (type) {
  case kByte: return integer_fits<uint8_t>(value);
  case kChar: return integer_fits<int8_t>(value);
  case kShort: return integer_fits<int16_t>(value);
  case kInt: return integer_fits<int32_t>(value);
  case kLong: return integer_fits<int64_t>(value);
  case kUInt16: return integer_fits<uint16_t>(value);
  case kUInt32: return integer_fits<uint32_t>(value);
  case kUInt64:
    return value.is_integral(true) || (value.toDouble() > -1 && value.toDouble() < 0x1p64);
  case kHalf: return real_fits(value, 65504.0);
  case kDouble: return true;
  default: return real_fits(value, static_cast<double>(std::numeric_limits<float>::max()));
  }
}

int64_t largest_exact(ScalarType type) {
  switch (type) {
  case kBool: return 1;
  case kByte: return 255;
  case kChar: return 127;
  case kShort: return 32767;
  case kInt: return std::numeric_limits<int32_t>::max();
  case kHalf: return 1 << 11;
  case kBFloat16: return 1 << 8;
  case kFloat: return 1 << 24;
  case kDouble: return int64_t{1} << 53;
  default: return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace tenon::native
