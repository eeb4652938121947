#include "codegen/meaning/differentiability.h"

#include "codegen/meaning/plain_functions.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace tenon::codegen {

namespace {

using schema::Argument;
using schema::FunctionSchema;

std::vector<const Argument*> differentiable_inputs(const FunctionSchema& schema,
                                                   const FormulaSet& set) {
  std::vector<const Argument*> inputs;
  for (const Argument& arg : schema.args) {
    const Formula* formula = set.find_backward(arg.name);
    if (formula == nullptr || formula->kind == FormulaKind::kNonDifferentiable) continue;
    inputs.push_back(&arg);
  }
  return inputs;
}

// Indices in `grad_input_mask[k]` below a condition.
void mask_indices(const expr::Formula& condition, std::set<size_t>& indices) {
  const bool is_mask = condition.kind == expr::FormulaKind::kIndex &&
                       condition.children[0].text == "grad_input_mask" &&
                       condition.children[1].kind == expr::FormulaKind::kLiteral;
  if (is_mask) {
    const std::string& digits = condition.children[1].text;
    const bool is_index = !digits.empty() && digits.size() < 4 &&
                          std::all_of(digits.begin(), digits.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_index) indices.insert(std::stoul(digits));
    return;
  }
  for (const expr::Formula& child : condition.children) mask_indices(child, indices);
}

// Gathers under which mask bits each name is used: `wrap_opt_if(x, condition)` needs x only if the
// condition holds; any other use needs it always.
class MaskedUses {
 public:
  explicit MaskedUses(const expr::Formula& formula) { visit(formula); }

  /// Empty where `name` is needed whatever the mask.
  std::set<size_t> of(const std::string& name) const {
    const auto known = uses_.find(name);
    return known == uses_.end() || always_.contains(name) ? std::set<size_t>{} : known->second;
  }

 private:
  void visit(const expr::Formula& formula) {
    const bool wraps = formula.kind == expr::FormulaKind::kCall && formula.children.size() == 3 &&
                       formula.children[0].text == "wrap_opt_if" &&
                       formula.children[1].kind == expr::FormulaKind::kName;
    if (wraps) {
      std::set<size_t> indices;
      mask_indices(formula.children[2], indices);
      if (indices.empty()) always_.insert(formula.children[1].text);
      uses_[formula.children[1].text].insert(indices.begin(), indices.end());
      return;
    }
    if (formula.kind == expr::FormulaKind::kName) always_.insert(formula.text);
    for (const expr::Formula& child : formula.children) visit(child);
  }

  std::map<std::string, std::set<size_t>> uses_;
  std::set<std::string> always_;
};

class Analysis {
 public:
  Analysis(const Operator& op, const Derivative& derivative, const FormulaSet& set)
      : op_(op), derivative_(derivative), schema_(derivative.schema), set_(set) {
    result_.derived = follows_from_expression(op, set);
    result_.inputs = result_.derived ? tensor_arguments(op) : differentiable_inputs(schema_, set);
  }

  Differentiability run() && {
    for (const Formula& formula : set_.backward) backward(formula);
    find_outputs();
    for (const Formula& formula : set_.forward) forward(formula);
    return std::move(result_);
  }

 private:
  std::optional<expr::Formula> parse(const Formula& formula) {
    expr::FormulaResult parsed = expr::parse_formula(formula.text.text);
    for (const expr::ExprError& error : parsed.errors) result_.errors.push_back({&formula, error});
    if (!parsed.ok()) return std::nullopt;
    return with_plain_functions(op_, std::move(parsed.formula));
  }

  std::optional<size_t> input(const std::string& name) const {
    for (size_t i = 0; i < result_.inputs.size(); ++i) {
      if (result_.inputs[i]->name == name) return i;
    }
    return std::nullopt;
  }

  void backward(const Formula& formula) {
    // Of the latter two derivative_kind says that they are forward formulas.
    if (formula.kind == FormulaKind::kNonDifferentiable ||
        formula.kind == FormulaKind::kAutoLinear || formula.kind == FormulaKind::kAutoElementWise)
      return;
    BackwardFormula result{&formula, {}, {}, {}, {}};
    for (const LocatedName& name : formula.names) {
      if (const auto index = input(name.text)) result.inputs.push_back(*index);
    }
    std::optional<expr::Formula> tree = parse(formula);
    if (!tree || result.inputs.empty()) return;

    std::vector<std::string> savable = result_names(schema_);
    std::set<std::string> plain;
    for (const Argument& arg : schema_.args) {
      savable.push_back(arg.name);
      if (!arg.type.holds_tensors()) plain.insert(arg.name);
    }
    expr::SavedAnalysis analysis = expr::analyze_saved(*tree, savable, plain);
    const MaskedUses masked(analysis.rewritten);
    for (expr::SavedValue& value : analysis.saved) keep(std::move(value), result, masked);
    result.written = std::move(*tree);
    result.rewritten = std::move(analysis.rewritten);
    result_.backward.push_back(std::move(result));
  }

  void keep(expr::SavedValue value, BackwardFormula& formula, const MaskedUses& masked) {
    std::vector<KeptValue>& kept = result_.kept;
    size_t index = 0;
    while (index < kept.size() && kept[index].value.variable != value.variable) ++index;
    if (index == kept.size()) kept.push_back({std::move(value), {}});
    formula.kept.push_back(index);
    const std::set<size_t> bits = masked.of(kept[index].value.variable);
    for (size_t i = 0; i < formula.inputs.size(); ++i) {
      if (bits.empty() || bits.contains(i)) kept[index].users.insert(formula.inputs[i]);
    }
  }

  void find_outputs() {
    const bool single =
        std::any_of(result_.backward.begin(), result_.backward.end(),
                    [](const BackwardFormula& f) { return expr::uses_name(f.written, "grad"); });
    const std::vector<bool>& declared = derivative_.output_differentiability;
    bool first = true;
    for (size_t i = 0; i < schema_.returns.size(); ++i) {
      bool is = schema_.returns[i].type.holds_tensors();
      if (!declared.empty()) {
        is = i < declared.size() && declared[i];
      } else if (single && is) {
        is = first;
        first = false;
      }
      result_.outputs.push_back(is);
    }
  }

  void forward(const Formula& formula) {
    ForwardFormula result{&formula, {}, {}, {}, {}};
    for (const LocatedName& name : formula.names) result.outputs.push_back(name.text);
    std::optional<expr::Formula> tree;
    if (formula.kind == FormulaKind::kAutoLinear) {
      result.text = linear();
      tree = expr::parse_formula(result.text).formula;
    } else if (formula.kind == FormulaKind::kAutoElementWise) {
      if (result_.inputs.size() != 1 || result_.backward.size() != 1) return;
      result.text = element_wise();
      tree = expr::parse_formula(result.text).formula;
    } else {
      tree = parse(formula);
      if (!tree) return;
      result.text = expr::print_formula(*tree);
    }
    if (schema_.is_inplace()) {
      result.outputs = {"self"};
      result.text = expr::print_formula(*tree, {{"result", "self_p"}});
      tree = expr::parse_formula(result.text).formula;
    }
    for (const Argument* arg : result_.inputs) {
      if (expr::uses_name(*tree, arg->name + "_t")) result.tangents.insert(arg->name);
      if (expr::uses_name(*tree, arg->name + "_p")) result.primals.insert(arg->name);
    }
    // Even of a constant function: without a tangent there is nothing to compute.
    if (formula.kind == FormulaKind::kAutoElementWise) {
      result.tangents.insert(result_.inputs[0]->name);
    }
    if (schema_.is_inplace() && expr::uses_name(*tree, "self_p")) result.primals.insert("self");
    result_.forward.push_back(std::move(result));
  }

  // f(x, k) is linear in x: its tangent is f(x_t, k).
  std::string linear() const {
    std::vector<std::string> values;
    const std::optional<size_t> options = schema_.tensor_options();
    for (size_t i = 0; i < schema_.args.size(); ++i) {
      if (options && i > *options && i < *options + 4) continue;
      const std::string& name = schema_.args[i].name;
      values.push_back(options && i == *options ? "options" : input(name) ? name + "_t" : name);
    }
    std::string text = "at::" + schema_.name + "(";
    size_t first = 0;
    if (!op_.variants.function && !values.empty())
      text = values[first++] + "." + schema_.name + "(";
    for (size_t i = first; i < values.size(); ++i) text += (i > first ? ", " : "") + values[i];
    return text + ")";
  }

  // The Jacobian is diagonal, so J v = conj(vjp(conj(v))).
  std::string element_wise() const {
    const std::string& name = result_.inputs[0]->name;
    return "(" +
           expr::print_formula(result_.backward[0].written,
                               {{"grad", name + "_t.conj()"}, {name, name + "_p"}}) +
           ").conj()";
  }

  const Operator& op_;
  const Derivative& derivative_;
  const FunctionSchema& schema_;
  const FormulaSet& set_;
  Differentiability result_;
};

}  // namespace

std::vector<std::string> result_names(const FunctionSchema& schema) {
  std::vector<std::string> names;
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    names.push_back(schema.return_name(i));
    if (schema.returns.size() > 1) names.push_back("result" + std::to_string(i));
  }
  return names;
}

std::vector<const Argument*> tensor_arguments(const Operator& op) {
  std::vector<const Argument*> inputs;
  for (const Argument& argument : op.schema.args) {
    if (argument.type.holds_tensors()) inputs.push_back(&argument);
  }
  return inputs;
}

bool follows_from_expression(const Operator& op, const FormulaSet& set) {
  return set.backward.empty() && (op.as<Pointwise>() || op.as<Rowwise>());
}

Differentiability differentiability(const Operator& op, const Derivative& derivative,
                                    const FormulaSet& set) {
  return Analysis(op, derivative, set).run();
}

}  // namespace tenon::codegen
