#pragma once

#include "codegen/expr/expr_error.h"
#include "codegen/expr/print_kernel.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

enum class FormulaKind : std::uint8_t {
  kName,         ///< `text`, possibly qualified: a, at::sum, std::numeric_limits<T>::max
  kLiteral,      ///< number, string, character, true, false, nullptr: `text` as written
  kCall,         ///< children[0] is the callee, the rest arguments
  kMember,       ///< children[0] `operation` ("." or "->") `text`
  kIndex,        ///< children[0] [ children[1] ]
  kUnary,        ///< operation children[0]
  kBinary,       ///< children[0] operation children[1]
  kTernary,      ///< children[0] ? children[1] : children[2]
  kBraces,       ///< { children... }
  kTypedBraces,  ///< type { children... }: children[0] is the type name
  kParentheses,  ///< ( children[0] )
  kLambda        ///< kept as written in `text`; its children are the names used inside
};

/// A node of a derivative formula: a C++ expression, with its place in the formula's text.
struct Formula {
  FormulaKind kind = FormulaKind::kName;
  std::string text;
  std::string operation;
  std::size_t offset = 0;
  std::size_t length = 0;
  std::vector<Formula> children;
};

struct FormulaResult {
  Formula formula;
  std::vector<ExprError> errors;
  bool ok() const { return errors.empty(); }
};

/// Parses a C++ expression as derivative formulas use it. With `absent`, `a ?? b` is one too.
FormulaResult parse_formula(const std::string& text, bool absent = false);

/// C++ text of the tree; unqualified names found in `rename` are replaced. Member names, callees
/// and qualified names are not renamed.
std::string print_formula(const Formula& formula, const Renaming& rename = {});

/// True if the trees are equal but for positions.
bool same_formula(const Formula& a, const Formula& b);

}  // namespace tenon::codegen::expr
