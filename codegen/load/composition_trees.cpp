#include "codegen/load/composition_trees.h"

#include <algorithm>
#include <cctype>

#include "codegen/expr/graph/constants.h"

namespace tenon::codegen::detail {

using expr::Formula;
using expr::FormulaKind;

namespace {

/// Checks of the library's operators that floating tensors of one dtype pass.
constexpr std::string_view kChecksOfDtypes[] = {"add_tensor_check",
                                                "add_scalar_check",
                                                "sub_tensor_check",
                                                "sub_scalar_check",
                                                "rsub_scalar_check",
                                                "pow_tensor_scalar_check",
                                                "neg_check",
                                                "addcdiv_check",
                                                "clamp_check",
                                                "clamp_min_check",
                                                "clamp_max_check",
                                                "where_self_check",
                                                "where_scalar_self_check",
                                                "where_scalar_other_check",
                                                "masked_fill_scalar_check",
                                                "_softmax_check",
                                                "_log_softmax_check",
                                                "native_layer_norm_check"};

}  // namespace

const Formula& inner(const Formula& tree) {
  return tree.kind == FormulaKind::kParentheses ? inner(tree.children[0]) : tree;
}

bool is_literal(const Formula& tree, std::string_view text) {
  return inner(tree).kind == FormulaKind::kLiteral && inner(tree).text == text;
}

/// The whole number of a literal, signed.
std::optional<std::string> integer(const Formula& written) {
  const Formula& tree = inner(written);
  const bool minus = tree.kind == FormulaKind::kUnary && tree.operation == "-";
  const Formula& digits = minus ? inner(tree.children[0]) : tree;
  if (digits.kind != FormulaKind::kLiteral || digits.text.empty() ||
      !std::all_of(digits.text.begin(), digits.text.end(),
                   [](unsigned char c) { return std::isdigit(c) != 0; })) {
    return std::nullopt;
  }
  return (minus ? "-" : "") + digits.text;
}

/// A number that an expression has as it is written.
std::optional<std::string> literal(const Formula& written) {
  const Formula& tree = inner(written);
  if (tree.kind == FormulaKind::kUnary && tree.operation == "-") {
    const auto text = literal(tree.children[0]);
    return text && (*text)[0] != '(' ? std::optional("(-" + *text + ")") : std::nullopt;
  }
  if (tree.kind == FormulaKind::kName && expr::find_named_constant(tree.text)) return tree.text;
  const bool is_number = tree.kind == FormulaKind::kLiteral && !tree.text.empty() &&
                         (std::isdigit(static_cast<unsigned char>(tree.text[0])) ||
                          tree.text == "true" || tree.text == "false");
  return is_number ? std::optional(tree.text) : std::nullopt;
}

bool is_check_of_dtypes(const Operator& op) {
  return std::find(std::begin(kChecksOfDtypes), std::end(kChecksOfDtypes), op.check->text) !=
         std::end(kChecksOfDtypes);
}

}  // namespace tenon::codegen::detail
