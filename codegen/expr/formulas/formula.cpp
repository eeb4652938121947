#include "codegen/expr/formulas/formula.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tenon::codegen::expr {
namespace {

std::string print_list(const Formula& formula, std::size_t first, const Renaming& rename) {
  std::string text;
  for (std::size_t i = first; i < formula.children.size(); ++i)
    text += (i == first ? "" : ", ") + print_formula(formula.children[i], rename);
  return text;
}

}  // namespace

std::string print_formula(const Formula& formula, const Renaming& rename) {
  const auto child = [&](std::size_t i) { return print_formula(formula.children[i], rename); };
  switch (formula.kind) {
  case FormulaKind::kName: {
    const auto it = rename.find(formula.text);
    return it == rename.end() ? formula.text : it->second;
  }
  case FormulaKind::kLiteral:
  case FormulaKind::kLambda: return formula.text;
  case FormulaKind::kCall: {
    const Formula& callee = formula.children[0];
    const std::string name = callee.kind == FormulaKind::kName ? callee.text : child(0);
    return name + "(" + print_list(formula, 1, rename) + ")";
  }
  case FormulaKind::kMember: return child(0) + formula.operation + formula.text;
  case FormulaKind::kIndex: return child(0) + "[" + child(1) + "]";
  case FormulaKind::kUnary: {
    // `- -x` is not `--x`.
    const Formula& operand = formula.children[0];
    const bool same = operand.kind == FormulaKind::kUnary && operand.operation == formula.operation;
    return formula.operation + (same ? " " : "") + child(0);
  }
  case FormulaKind::kBinary: return child(0) + " " + formula.operation + " " + child(1);
  case FormulaKind::kTernary: return child(0) + " ? " + child(1) + " : " + child(2);
  case FormulaKind::kBraces: return "{" + print_list(formula, 0, rename) + "}";
  case FormulaKind::kTypedBraces:
    return formula.children[0].text + "{" + print_list(formula, 1, rename) + "}";
  case FormulaKind::kParentheses: return "(" + child(0) + ")";
  case FormulaKind::kLocal:
  case FormulaKind::kCheck:
  case FormulaKind::kRepeat: {
    std::string text = "[&] { ";
    const Formula* rest = &formula;
    for (; has_rest(*rest); rest = &rest->children[1]) {
      if (rest->kind == FormulaKind::kLocal) text += "const auto " + rest->text + " = ";
      if (rest->kind == FormulaKind::kRepeat) text += "repeat " + rest->text + " while ";
      text += print_formula(rest->children[0], rename);
      if (rest->kind == FormulaKind::kRepeat)
        text += " " + print_formula(rest->children[2], rename);
      text += "; ";
    }
    return text + "return " + print_formula(*rest, rename) + "; }()";
  }
  }
  return "";
}

bool is_check(std::string_view function) {
  constexpr std::array<std::string_view, 5> kChecks = {"check", "check_index", "check_type",
                                                       "check_value", "check_not_implemented"};
  return std::find(kChecks.begin(), kChecks.end(), function) != kChecks.end();
}

std::string check_macro(std::string_view function) {
  std::string macro = "TENON_" + std::string(function);
  for (char& c : macro) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return macro;
}

bool same_formula(const Formula& a, const Formula& b) {
  return a.kind == b.kind && a.text == b.text && a.operation == b.operation &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    same_formula);
}

}  // namespace tenon::codegen::expr
