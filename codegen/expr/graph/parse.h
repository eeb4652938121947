#pragma once

#include "codegen/expr/graph/expr_error.h"
#include "codegen/expr/graph/functions.h"
#include "codegen/expr/graph/graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// A name an expression may use. Scalars are never differentiable.
struct Parameter {
  std::string name;
  bool is_tensor = true;
  bool differentiable = true;
  bool optional = false;  ///< a number that may be absent: used as `name ?? value`
  bool floating = false;  ///< a number of type `float`
};

/// A call of `uniform()` or `normal()`: a number for each element.
struct Draw {
  std::string function;  ///< as it was called
  NodeId node = 0;       ///< a variable of its own, named as `draw_name` says
  std::size_t text_index = 0, offset = 0, length = 0;  ///< where it was called
};

/// A parsed pointwise expression: one graph node per output.
struct Expression {
  Graph graph;
  std::vector<Parameter> parameters;
  std::vector<NodeId> outputs;
  std::vector<Draw> draws;                 ///< in the order in which they are called
  std::map<std::string, double> defaults;  ///< what stands for optional numbers, as found
};

struct ParseResult {
  Expression expression;  ///< meaningful only when `errors` is empty
  std::vector<ExprError> errors;
  bool ok() const { return errors.empty(); }
};

/// Parses one text per output against one set of parameters.
///
///     text    := { name "=" expr ";" } expr
///     expr    := or-expr [ "?" expr ":" expr ]
///     literals: integers, floats, inf, nan, pi, e (a parameter of that name wins)
///     operators, C precedence: || && | ^ & == != < <= > >= << >> + - * / % unary - + ! ~
///
/// `/` is true division, `%` the remainder with the divisor's sign. Calls name an intrinsic or one
/// of `functions`, which are expanded as they are for dtypes of `category`. A local name may be
/// bound before use: `t = exp(x); t / (1 + t)`. All mistakes that can be found independently are
/// reported. `of`: the operator that the texts are of, which they cannot call. `names`: of the
/// outputs, by which the texts after one may use its value.
ParseResult parse_expressions(const std::vector<std::string>& texts,
                              const std::vector<Parameter>& parameters,
                              const Functions& functions = {}, const std::string& category = "",
                              const std::string& of = "",
                              const std::vector<std::string>& names = {});

/// The same for a single output.
ParseResult parse_expression(const std::string& text, const std::vector<Parameter>& parameters,
                             const Functions& functions = {});

}  // namespace tenon::codegen::expr
