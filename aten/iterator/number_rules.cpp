#include "aten/iterator/number_rules.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "aten/iterator/number_fits.h"

namespace tenon::native {
namespace {

/// The number as a value of the type: rounded, or wrapped around.
Scalar value_of(const Scalar& number, ScalarType type) {
  switch (type) {
  case kByte: return number.to<uint8_t>();
  case kChar: return number.to<int8_t>();
  case kShort: return number.to<int16_t>();
  case kInt: return number.to<int32_t>();
  case kHalf: return number.to<Half>();
  case kBFloat16: return number.to<BFloat16>();
  default: return number;
  }
}

/// The nearest int64, without its fraction.
Scalar saturated(const Scalar& number) {
  if (number.is_integral(true)) return number;
  const double value = number.toDouble();
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

NumberRule number_rule(const PointwiseOp& op) {
  constexpr std::pair<std::string_view, NumberRule> kRules[] = {
      {"mul", NumberRule::Factor},
      {"div", NumberRule::Factor},
      {"floor_divide", NumberRule::Factor},
      {"_trunc_divide", NumberRule::Factor},
      {"clamp", NumberRule::Bound},
      {"clamp_min", NumberRule::Bound},
      {"clamp_max", NumberRule::Bound},
      {"hardtanh", NumberRule::Bound},
      {"lerp", NumberRule::Exact},
      {"hardshrink", NumberRule::Threshold},
      {"softshrink", NumberRule::Threshold},
      {"HardshrinkBackward0", NumberRule::Threshold},
      {"SoftshrinkBackward0", NumberRule::Threshold},
  };
  std::string_view name = op.name;
  name = name.substr(0, name.find('.'));  // without the overload
  for (const auto& [of, rule] : kRules) {
    if (name == of) return rule;
  }
  const bool is_derivative = name.find("Backward") != std::string_view::npos;
  return is_derivative ? NumberRule::Exact : NumberRule::Operand;
}

Scalar converted_number(const PointwiseOp& op, size_t k, const Scalar& number, ScalarType common) {
  const NumberRule rule = number_rule(op);
  if (is_integral(common, false)) {
    return rule == NumberRule::Bound ? saturated(number) : value_of(number, common);
  }
  const bool is_operand = (op.promoting_scalars >> k) & 1;
  const bool rounds = rule == NumberRule::Threshold || (rule == NumberRule::Operand && is_operand);
  return rounds ? value_of(number, common) : number;
}

bool is_value_of(int64_t number, ScalarType type) {
  const int64_t largest = largest_exact(type);
  return number <= largest && number >= (type == kByte ? 0 : -largest - 1);
}

}  // namespace tenon::native
