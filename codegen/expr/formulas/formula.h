#pragma once

#include "codegen/expr/graph/expr_error.h"
#include "codegen/expr/graph/print_kernel.h"

#include <cstddef>
#include <cstdint>
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
  kLambda,       ///< kept as written in `text`; its children are the names used inside
  kLocal,        ///< `text` = children[0]; children[1], where the name stands for the value
  kCheck,        ///< children[0]; children[1]: a call of `check`, `check_index`, ..., then the rest
  kRepeat        ///< at most `text` times while children[0] holds the locals of children[2], which
                 ///< end in a list of their names; children[1] is the rest
};

/// A node of the one tree of the language: of expressions of elements and rows, of compositions and
/// of derivative formulas, with its place in the text.
struct Formula {
  FormulaKind kind = FormulaKind::kName;
  std::string text;
  std::string operation;
  std::size_t offset = 0;
  std::size_t length = 0;
  std::size_t operation_offset = 0;  ///< of an operation between operands
  std::uint32_t height = 1;          ///< of the tree as parsed; at most kMaxHeight
  std::vector<Formula> children;
};

/// Trees are walked recursively: deeper ones are refused.
constexpr std::uint32_t kMaxHeight = 1000;

struct FormulaResult {
  Formula formula;
  std::vector<ExprError> errors;
  bool complete = false;  ///< the tree is whole; an error may still say how a word is written here
  bool ok() const { return errors.empty(); }
};

/// The parser of every text of the language.
///
///     text    := { ( name "=" expr | check "(" arguments ")" ) ";" | loop } expr
///     loop    := "repeat" integer [ "while" expr ] "{" name "=" expr ";" { name "=" expr ";" } "}"
///     expr    := either [ "?" expr ":" expr ]
///     either  := or-expr [ "??" either ]
///     operators, C's precedence: || && | ^ & == != < <= > >= << >> + - * / % unary - + ! ~ *
///     operand := number | string | name | "(" expr ")" | "{" [ expr { "," expr } ] "}" | lambda
///     name    := identifier { "::" identifier [ template arguments ] }
///     behind an operand: "(" arguments ")", "." name, "->" name, "[" expr "]"
///
/// What a word of another language stands for (`and`, `True`, `1.0f`, `a if c else b`) is said.
/// Which names exist, and which kinds of nodes have a meaning, is for those who read the tree:
/// GraphBuilder makes code of one element of it, print_formula code of tensors.
FormulaResult parse_formula(const std::string& text);

/// C++ text of the tree; unqualified names found in `rename` are replaced. Member names, callees
/// and qualified names are not renamed.
std::string print_formula(const Formula& formula, const Renaming& rename = {});

/// Whether a call of this name says what a composition is refused for: `check`, `check_index`, ...
bool is_check(std::string_view function);

/// Whether the tree is a local, a check or a loop, and children[1] what comes after it.
inline bool has_rest(const Formula& tree) {
  return tree.kind == FormulaKind::kLocal || tree.kind == FormulaKind::kCheck ||
         tree.kind == FormulaKind::kRepeat;
}

/// The macro of a check's name, `TENON_CHECK_INDEX` of `check_index`.
std::string check_macro(std::string_view function);

/// True if the trees are equal but for positions.
bool same_formula(const Formula& a, const Formula& b);

}  // namespace tenon::codegen::expr
