#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/expr/graph/infer.h"
#include "codegen/expr/graph/parse.h"
#include "codegen/meaning/differentiability.h"
#include "codegen/model/operator.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// Mistakes in an expression, at their places in its file.
void report(const SourceString& text, const std::vector<expr::ExprError>& errors,
            DiagnosticSink& sink);

/// What expressions and formulas of the entry may call.
const expr::Functions& functions_of(const Operator& op);

/// The names that expressions of this schema may use: its tensors and numbers.
std::vector<expr::Parameter> pointwise_parameters(const schema::FunctionSchema& schema);

/// Arguments that may be absent: what compositions test and `??` replaces.
std::vector<std::string> optional_names(const schema::FunctionSchema& schema);

/// The expression of each output for one dtype category; empty where an output has none.
std::vector<const PointwiseCase*> pointwise_cases_for(const Operator& op,
                                                      std::string_view category);

/// Those expressions as one graph, in which a case may use the results before it by their names,
/// for dtypes of `category` (any where it is empty): operators that they call may have an
/// expression for each.
expr::ParseResult parse_cases(const Operator& op, const std::vector<const PointwiseCase*>& cases,
                              const std::string& category = "");

/// Which category to parse one case for: its own, else one that everything it calls serves; empty
/// where there is none.
std::string category_of(const Operator& op, const PointwiseCase& one);

/// The expressions that the derivative of a pointwise operator follows from: those of floating
/// numbers, where there are none those of complex ones. Empty for an operator of integers alone.
std::vector<const PointwiseCase*> differentiable_cases(const Operator& op);
std::optional<expr::Expression> differentiable_expression(const Operator& op);

/// Whether the operator's `pointwise` draws random numbers. Needs the entry's functions.
bool draws_random_numbers(const Operator& op);

/// The dtype rule that one output has by itself.
Promotion promotion_of(const expr::TypeInfo& info);

/// A formula that computes each element of a gradient from the same element of its operands, as an
/// expression; nothing for other formulas. `analysis` is what the formula is from.
std::optional<expr::Expression> as_pointwise(const Operator& op, const Differentiability& analysis,
                                             const BackwardFormula& formula);

/// What such an expression may use: arguments, then `grad` and `result`.
std::vector<expr::Parameter> formula_parameters(const Operator& op);

}  // namespace tenon::codegen
