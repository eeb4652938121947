#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/expr/graph/parse.h"
#include "codegen/model/operator.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// The results of a `rowwise` entry as one graph.
struct RowExpression {
  expr::Expression expression;
  std::map<std::string, double> defaults;  ///< of tensors and numbers that may be absent
  std::set<std::string> positions;         ///< arguments that `pick` reads from
};

/// Nothing where the expressions have mistakes, which go to `sink`, or where keys do.
std::optional<RowExpression> parse_rowwise(const Operator& op, DiagnosticSink& sink);

/// Whether every expression, or every one of rows, has a function of this name: `exp`, `sum`,
/// `mean`.
bool is_function_of_expressions(std::string_view name);

/// The mistakes of a `define` that is read as a function of rows, whose parameters are elements.
std::vector<expr::ExprError> mistakes_in_rows(const Definition& definition,
                                              const expr::Functions& functions);

/// Whether a result has one value per row.
bool reduces(const RowExpression& row);

/// Of an operator that has passed the checks.
RowExpression parse_rowwise(const Operator& op);

/// Whether the argument says what makes a row, not what is computed.
bool is_geometry(const Operator& op, const schema::Argument& argument);

/// `bool half_to_float`: elements of Half are computed, and given, in Float.
bool is_half_to_float(const schema::Argument& argument);

bool holds_name(const std::vector<LocatedName>& list, std::string_view name);

}  // namespace tenon::codegen
