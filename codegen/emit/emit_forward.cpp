#include "codegen/emit/emit_forward.h"

#include <algorithm>
#include <optional>

#include "codegen/emit/emit_rowwise.h"
#include "codegen/expr/formulas/composition.h"
#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/formulas/formula_names.h"
#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/intrinsics.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/expression.h"

namespace tenon::codegen {
namespace {

using schema::Argument;

/// Arguments as bits, by their places in the schema.
uint64_t bit_of(const Operator& op, const Argument& argument) {
  return uint64_t{1} << op.schema.arg_index(argument.name);
}

/// Whether the derivative of the expression is one number for each element, complex ones included.
bool is_holomorphic(const expr::Expression& expression) {
  for (const expr::NodeId id : expr::topological_order(expression.graph, expression.outputs)) {
    const auto& node = expression.graph[id];
    if (node.kind != expr::NodeKind::kCall) continue;
    if (!expr::intrinsic(node.op).complex_allowed || node.op == expr::Op::kConj ||
        node.op == expr::Op::kReal || node.op == expr::Op::kImag)
      return false;
  }
  return true;
}

/// A sum's terms: where an argument has no tangent, what it contributes is left out and not added
/// up from zeros.
struct Term {
  const expr::Formula* formula;
  bool negative;
};

void split(const expr::Formula& formula, bool negative, std::vector<Term>& terms) {
  const bool sum = formula.kind == expr::FormulaKind::kBinary &&
                   (formula.operation == "+" || formula.operation == "-");
  const bool minus = formula.kind == expr::FormulaKind::kUnary && formula.operation == "-";
  if (sum) {
    split(formula.children[0], negative, terms);
    split(formula.children[1], negative != (formula.operation == "-"), terms);
  } else if (minus || formula.kind == expr::FormulaKind::kParentheses) {
    split(formula.children[0], negative != minus, terms);
  } else {
    terms.push_back({&formula, negative});
  }
}

class ForwardEmitter {
 public:
  ForwardEmitter(const Operator& op, const Differentiability& written,
                 std::vector<std::string>& operators)
      : op_(op), written_(written), operators_(operators) {}

  std::optional<ir::Forward> run() {
    const Formula& first = *written_.forward.front().source;
    if (first.kind == FormulaKind::kAutoLinear) return rule(ir::TangentRule::kLinear);
    if (first.kind == FormulaKind::kAutoElementWise) return rule(ir::TangentRule::kElementWise);
    std::vector<bool> given(op_.schema.returns.size());
    for (const ForwardFormula& formula : written_.forward) {
      if (formula.source->kind != FormulaKind::kExpression) return std::nullopt;
      add(*formula.source, given);
    }
    for (size_t i = 0; i < given.size(); ++i) {
      if (written_.outputs[i] && !given[i]) return std::nullopt;
    }
    for (const std::string& name : called_) expr::append_new(operators_, name);
    return rule(ir::TangentRule::kFormula);
  }

 private:
  /// All differentiable arguments are covered, or those whose tangents the formulas read.
  ir::Forward rule(ir::TangentRule kind) {
    uint64_t all = 0;
    for (const Argument* input : written_.inputs) all |= bit_of(op_, *input);
    forward_.rule = kind;
    if (forward_.formulas.empty()) forward_.covered = all;
    forward_.uncovered = all & ~forward_.covered;
    return std::move(forward_);
  }

  void add(const Formula& source, std::vector<bool>& given) {
    const expr::Formula tree = expr::parse_formula(source.text.text).formula;
    std::vector<size_t> outputs;
    for (const LocatedName& name : source.names) {
      const size_t index = op_.schema.is_inplace() ? 0 : result_index(name.text);
      given[index] = true;
      outputs.push_back(index);
    }
    add_values(tree);
    for (std::string name : expr::called_functions(tree)) {
      if (name.starts_with("tenon::")) name.erase(0, 7);
      const bool operator_name = !name.starts_with("std::") && name.find('<') == std::string::npos;
      if (operator_name) called_.push_back(name);
    }
    std::vector<Term> terms;
    if (outputs.size() == 1) {
      split(tree, false, terms);
    } else {
      terms.push_back({&tree, false});
    }
    std::vector<ir::TangentTerm> texts;
    for (const Term& term : terms) texts.push_back(term_text(term));
    forward_.formulas.push_back({std::move(outputs), source.text.text, std::move(texts)});
  }

  ir::TangentTerm term_text(const Term& term) {
    ir::TangentTerm result;
    for (const Argument* input : written_.inputs) {
      for (const std::string& name : {input->name + "_t", "original_" + input->name + "_t"}) {
        if (!expr::uses_name(*term.formula, name)) continue;
        forward_.covered |= bit_of(op_, *input);
        result.tangents.push_back({name, static_cast<size_t>(op_.schema.arg_index(input->name)),
                                   input->type.is_tensor_list()});
      }
    }
    result.text = expr::print_formula(expr::with_meaning_in_cpp(*term.formula, op_.name()));
    result.negative = term.negative;
    return result;
  }

  /// The arguments and results that the formula reads, each once.
  void add_values(const expr::Formula& tree) {
    const auto add_once = [&](const std::string& name, bool is_result, size_t index,
                              const std::string& type) {
      if (!expr::uses_name(tree, name)) return;
      for (const ir::ForwardValue& known : forward_.values) {
        if (known.name == name) return;
      }
      forward_.values.push_back({name, is_result, index, type});
    };
    for (size_t i = 0; i < op_.schema.args.size(); ++i) {
      const Argument& argument = op_.schema.args[i];
      const std::string type = cpp_owned_type(argument.type);
      add_once(argument.name, false, i, type);
      add_once(argument.name + "_p", false, i, type);
      add_once("original_" + argument.name + "_p", false, i, type);
    }
    for (size_t i = 0; i < op_.schema.returns.size(); ++i) {
      add_once(op_.schema.return_name(i), true, i, "");
      add_once("result" + std::to_string(i), true, i, "");
      if (op_.schema.is_inplace()) add_once("result", true, i, "");
    }
  }

  size_t result_index(const std::string& name) const {
    for (size_t i = 0; i < op_.schema.returns.size(); ++i) {
      if (name == op_.schema.return_name(i) || name == "result" + std::to_string(i)) return i;
    }
    return 0;  // `result` of an operator that has one
  }

  const Operator& op_;
  const Differentiability& written_;
  ir::Forward forward_;
  std::vector<std::string> called_;
  std::vector<std::string>& operators_;
};

}  // namespace

std::optional<ir::Forward> emit_forward(const Operator& op, const Differentiability* written,
                                        const std::vector<bool>& outputs,
                                        std::vector<std::string>& operators) {
  const auto is_list = [](const schema::Return& one) { return one.type.is_tensor_list(); };
  const bool lists = std::any_of(op.schema.returns.begin(), op.schema.returns.end(), is_list);
  if (lists || op.schema.args.size() > 64) return std::nullopt;
  if (written != nullptr && !written->forward.empty()) {
    return ForwardEmitter(op, *written, operators).run();
  }
  if (op.as<Rowwise>() && (written == nullptr || written->derived)) {
    return emit_rowwise_forward(op, outputs, operators);
  }
  // Each element of a pointwise operator's result has one element of each argument to thank.
  if (!op.as<Pointwise>() || op.schema.returns.size() != 1) return std::nullopt;
  bool holomorphic = false;
  uint64_t covered = 0;
  if (written != nullptr) {
    for (const BackwardFormula& formula : written->backward) {
      if (formula.source->kind == FormulaKind::kNotImplemented) return std::nullopt;
    }
    for (const Argument* input : written->inputs) covered |= bit_of(op, *input);
  } else {
    const std::optional<expr::Expression> expression = differentiable_expression(op);
    if (!expression) return std::nullopt;
    holomorphic = is_holomorphic(*expression);
    for (const Argument& argument : op.schema.args) {
      if (argument.type.holds_tensors()) covered |= bit_of(op, argument);
    }
  }
  ir::Forward forward;
  forward.rule = holomorphic ? ir::TangentRule::kElementWise : ir::TangentRule::kElementWiseOfReals;
  forward.covered = covered;
  return forward;
}

}  // namespace tenon::codegen
