#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tenon::schema {

/// How the dtype of a pointwise or row operator's result follows from those of its operands: the
/// words of `promote`, in their order, and what kernels need besides.
enum class Promotion : uint8_t {
  kDefault,         ///< result and computation in the promoted dtype
  kFloat,           ///< as default, but integers and Bool become the default dtype first
  kBool,            ///< computed in the promoted dtype, the result is Bool
  kComplexToFloat,  ///< as default, but a complex result becomes its real dtype
  kBoolToLong,      ///< as default, but Bool becomes Long first
  kNone,            ///< operands must already have one dtype
  kElements,        ///< of `rowwise`: columns and values of rows do not lift the dtype
  kFloatToBool,     ///< of kernels: as bool, but integers become the default dtype first
};

/// The words of `promote`.
inline constexpr std::array<std::string_view, 7> kPromotions = {
    "default", "float", "bool", "complex_to_float", "bool_to_long", "none", "elements"};

constexpr std::string_view to_string(Promotion promotion) {
  const auto index = static_cast<size_t>(promotion);
  return index < kPromotions.size() ? kPromotions[index] : "";
}

constexpr bool gives_bool(Promotion promotion) {
  return promotion == Promotion::kBool || promotion == Promotion::kFloatToBool;
}

constexpr bool makes_floating(Promotion promotion) {
  return promotion == Promotion::kFloat || promotion == Promotion::kFloatToBool;
}

}  // namespace tenon::schema
