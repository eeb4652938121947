#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/yaml/diagnostic.h"

// Expressions of optimizers.yaml, and those of operators that write arguments: C's operators with
// C's precedence, `condition ? a : b`, `0 <= x < 1`, `betas[0]`, calls. The text is kept as a tree,
// so that it reads alike in C++ and in Python.

namespace tenon::codegen::optimizers {

struct Expr {
  enum class Kind : uint8_t {
    kNumber,
    kName,
    kElement,  ///< `text[index]`
    kUnary,
    kBinary,
    kCompare,  ///< of `operands` in turn, by `operators`
    kChoice,
    kCall,
  } kind = Kind::kNumber;
  std::string text;  ///< the number, name, operator or function
  size_t index = 0;
  std::vector<std::string> operators;
  std::vector<Expr> operands;
  Location place;
};

/// `target = value`, `target *= value`, or `value` alone: a call, without target.
struct Statement {
  std::string target, operation;
  Expr value;
  Location place;
};

/// Mistakes are reported, at their places; there is then no result.
std::optional<Expr> parse_expression(const SourceString& text, DiagnosticSink& sink);
/// Statements between `;`.
std::vector<Statement> parse_statements(const SourceString& text, DiagnosticSink& sink);

/// Calls `visit` for `expr` and all that it is made of, outside first.
void walk(const Expr& expr, const std::function<void(const Expr&)>& visit);

/// How an expression is written.
struct Spelling {
  bool python = false;
  /// Of a name or an element.
  std::function<std::string(const Expr&)> name;
  /// Python: whether a name is a tensor, so that a choice by it is one for each element.
  std::function<bool(const std::string&)> is_tensor = [](const std::string&) { return false; };
  /// Python: whether a name may be None, so that a choice by it asks whether it is there.
  std::function<bool(const std::string&)> may_be_none = [](const std::string&) { return false; };
};

/// The expression in C++ or Python.
std::string print(const Expr& expr, const Spelling& spelling);
/// In parentheses unless it is a comparison or simpler: to negate it.
std::string print_operand(const Expr& expr, const Spelling& spelling);

}  // namespace tenon::codegen::optimizers
