#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "codegen/expr/rows/row_schedule.h"
#include "codegen/ir/form.h"
#include "codegen/ir/node.h"
#include "codegen/ir/rows.h"
#include "codegen/meaning/kernel_declarations.h"
#include "codegen/model/operator.h"
#include "codegen/schema/function_schema.h"

/// What the document calls the values of enumerations: one table for each, in their order.
namespace tenon::codegen::ir {

/// The names of an enumeration's values up to the last one: any other number of them is an error.
template <auto Last, class... Names>
consteval auto names_upto(Names... names) {
  static_assert(sizeof...(Names) == static_cast<size_t>(Last) + 1);
  return std::array<const char*, sizeof...(Names)>{names...};
}

template <class Kind>
inline constexpr auto kNames = nullptr;

template <>
inline constexpr auto
    kNames<Promotion> = names_upto<Promotion::kFloatToBool>("kDefault", "kFloat", "kBool",
                                                            "kComplexToFloat", "kBoolToLong",
                                                            "kNone", "kElements", "kFloatToBool");
template <>
inline constexpr auto kNames<ThunkKind> = names_upto<ThunkKind::kOutFromFunctional>(
    "pointwise", "pointwise_mixed", "update", "update_composed", "rowwise", "rowwise_composed",
    "composition", "foreach", "structured", "direct", "inplace_from_functional",
    "out_from_functional");
template <>
inline constexpr auto kNames<DeclarationKind> =
    names_upto<DeclarationKind::kCheck>("function", "meta", "structured", "check");
template <>
inline constexpr auto kNames<RowKind> = names_upto<RowKind::kColumn>("Element", "Row", "Column");
template <>
inline constexpr auto kNames<RowDtype> = names_upto<RowDtype::kPromoted>("Bool", "Long", "Sum",
                                                                         "Promoted");
template <>
inline constexpr auto
    kNames<expr::RowStep::Kind> = names_upto<expr::RowStep::Kind::kPick>("values", "pass", "pick");
template <>
inline constexpr auto kNames<InputKind> = names_upto<InputKind::kList>("tensor", "optional",
                                                                       "list");
template <>
inline constexpr auto kNames<SavedKind> = names_upto<SavedKind::kResultValue>(
    "tensor", "optional_tensor", "tensor_list", "optional_tensor_list", "result", "result_list",
    "value", "result_value");
template <>
inline constexpr auto kNames<GradientKind> = names_upto<GradientKind::kOperators>("kernel", "grad",
                                                                                  "zero",
                                                                                  "operators");
template <>
inline constexpr auto kNames<TangentRule> =
    names_upto<TangentRule::kFormula>("Linear", "ElementWise", "ElementWiseOfReals", "Formula");

template <class Kind>
std::string name_of(Kind kind) {
  const auto at = static_cast<size_t>(kind);
  if (at >= kNames<Kind>.size())
    throw std::logic_error("[ir] value " + std::to_string(at) + " has no name");
  return kNames<Kind>[at];
}

inline std::string name_of(schema::SchemaKind kind) { return std::string(to_string(kind)); }

}  // namespace tenon::codegen::ir
