#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "codegen/expr/row_schedule.h"
#include "codegen/ir/form.h"
#include "codegen/ir/node.h"
#include "codegen/ir/rows.h"
#include "codegen/model/kernel_declarations.h"
#include "codegen/model/operator.h"
#include "codegen/schema/function_schema.h"

/// What the document calls the values of enumerations: one table for each.
namespace tenon::codegen::ir {

template <class Kind>
struct NameOf {
  Kind kind;
  const char* name;
};

/// Whether row i is of the enumeration's value i, up to the last one.
template <class Kind, size_t N>
constexpr bool names_all(const NameOf<Kind> (&table)[N], Kind last) {
  for (size_t i = 0; i < N; ++i) {
    if (static_cast<size_t>(table[i].kind) != i) return false;
  }
  return table[N - 1].kind == last;
}

inline constexpr NameOf<Promotion> kPromotions[] = {
    {Promotion::kDefault, "Default"},       {Promotion::kFloat, "IntToFloat"},
    {Promotion::kBool, "Comparison"},       {Promotion::kComplexToFloat, "ComplexToReal"},
    {Promotion::kBoolToLong, "BoolToLong"}, {Promotion::kNone, "Default"},
    {Promotion::kElements, "Default"},      {Promotion::kFloatToBool, "FloatComparison"},
};
static_assert(names_all(kPromotions, Promotion::kFloatToBool));

inline constexpr NameOf<ThunkKind> kThunkKinds[] = {
    {ThunkKind::kPointwise, "pointwise"},
    {ThunkKind::kPointwiseMixed, "pointwise_mixed"},
    {ThunkKind::kUpdate, "update"},
    {ThunkKind::kUpdateComposed, "update_composed"},
    {ThunkKind::kRowwise, "rowwise"},
    {ThunkKind::kRowwiseComposed, "rowwise_composed"},
    {ThunkKind::kComposition, "composition"},
    {ThunkKind::kForeach, "foreach"},
    {ThunkKind::kStructured, "structured"},
    {ThunkKind::kDirect, "direct"},
    {ThunkKind::kInplaceFromFunctional, "inplace_from_functional"},
    {ThunkKind::kOutFromFunctional, "out_from_functional"},
};
static_assert(names_all(kThunkKinds, ThunkKind::kOutFromFunctional));

inline constexpr NameOf<DeclarationKind> kDeclarationKinds[] = {
    {DeclarationKind::kFunction, "function"},
    {DeclarationKind::kMeta, "meta"},
    {DeclarationKind::kStructured, "structured"},
    {DeclarationKind::kCheck, "check"},
};
static_assert(names_all(kDeclarationKinds, DeclarationKind::kCheck));

inline constexpr NameOf<RowKind> kRowKinds[] = {
    {RowKind::kElement, "Element"},
    {RowKind::kRow, "Row"},
    {RowKind::kColumn, "Column"},
};
static_assert(names_all(kRowKinds, RowKind::kColumn));

/// Of what is converted for the operators that compute in a kernel's place.
inline constexpr NameOf<RowKind> kConversions[] = {
    {RowKind::kElement, "element"},
    {RowKind::kRow, "row"},
    {RowKind::kColumn, "column"},
};
static_assert(names_all(kConversions, RowKind::kColumn));

inline constexpr NameOf<RowDtype> kRowDtypes[] = {
    {RowDtype::kBool, "Bool"},
    {RowDtype::kLong, "Long"},
    {RowDtype::kSum, "Sum"},
    {RowDtype::kCommon, "Common"},
};
static_assert(names_all(kRowDtypes, RowDtype::kCommon));

inline constexpr NameOf<expr::RowStep::Kind> kRowSteps[] = {
    {expr::RowStep::Kind::kValues, "values"},
    {expr::RowStep::Kind::kPass, "pass"},
    {expr::RowStep::Kind::kPick, "pick"},
};
static_assert(names_all(kRowSteps, expr::RowStep::Kind::kPick));

inline constexpr NameOf<InputKind> kInputKinds[] = {
    {InputKind::kTensor, "tensor"},
    {InputKind::kOptional, "optional"},
    {InputKind::kList, "list"},
};
static_assert(names_all(kInputKinds, InputKind::kList));

inline constexpr NameOf<SavedKind> kSavedKinds[] = {
    {SavedKind::kTensor, "tensor"},
    {SavedKind::kOptionalTensor, "optional_tensor"},
    {SavedKind::kTensorList, "tensor_list"},
    {SavedKind::kOptionalTensorList, "optional_tensor_list"},
    {SavedKind::kResult, "result"},
    {SavedKind::kResultList, "result_list"},
    {SavedKind::kValue, "value"},
    {SavedKind::kResultValue, "result_value"},
};
static_assert(names_all(kSavedKinds, SavedKind::kResultValue));

inline constexpr NameOf<GradientKind> kGradientKinds[] = {
    {GradientKind::kKernel, "kernel"},
    {GradientKind::kGrad, "grad"},
    {GradientKind::kZero, "zero"},
    {GradientKind::kOperators, "operators"},
};
static_assert(names_all(kGradientKinds, GradientKind::kOperators));

inline constexpr NameOf<TangentRule> kTangentRules[] = {
    {TangentRule::kLinear, "Linear"},
    {TangentRule::kElementWise, "ElementWise"},
    {TangentRule::kElementWiseOfReals, "ElementWiseOfReals"},
    {TangentRule::kFormula, "Formula"},
};
static_assert(names_all(kTangentRules, TangentRule::kFormula));

/// Of thunks and wrappers: what writes neither self nor given outputs is `functional`.
inline constexpr NameOf<schema::SchemaKind> kForms[] = {
    {schema::SchemaKind::kFunctional, "functional"},
    {schema::SchemaKind::kInplace, "inplace"},
    {schema::SchemaKind::kOut, "out"},
    {schema::SchemaKind::kMutable, "functional"},
    {schema::SchemaKind::kScratch, "functional"},
};
static_assert(names_all(kForms, schema::SchemaKind::kScratch));

template <class Kind, size_t N>
const char* name_in(const NameOf<Kind> (&table)[N], Kind kind) {
  const auto row = static_cast<size_t>(kind);
  if (row >= N) throw std::logic_error("[ir] value " + std::to_string(row) + " has no name");
  return table[row].name;
}

}  // namespace tenon::codegen::ir
