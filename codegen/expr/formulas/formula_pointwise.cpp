#include "codegen/expr/formulas/formula_pointwise.h"

#include "codegen/expr/graph/constants.h"
#include "codegen/expr/graph/graph_builder.h"
#include "codegen/expr/graph/operators.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenon::codegen::expr {
namespace {

using MaybeNode = std::optional<NodeId>;  // nothing: not pointwise

/// The intrinsic a tensor function or method of this name computes.
const Intrinsic* tensor_function(const std::string& name, std::size_t arity) {
  for (const std::string& candidate : intrinsic_names()) {
    const Intrinsic* row = find_intrinsic(candidate);
    const bool conversion = row->op == Op::kToMask || row->op == Op::kFromMask;
    const bool changes_dtype = row->op == Op::kReal || row->op == Op::kImag;
    if (!conversion && !changes_dtype && row->tensor_op == name && row->arity == arity) return row;
  }
  return nullptr;
}

/// Calls whose arguments stand in another order than those of what they compute, or whose last one
/// says which operation is meant.
struct CallForm {
  std::string_view function;
  std::size_t arity;
  bool method_only;
  std::string_view mode;  ///< the last argument; empty: an operand
  Op op;
  std::array<std::size_t, 3> order;
};
constexpr CallForm kCallForms[] = {
    {"div", 3, false, "\"trunc\"", Op::kTruncDivide, {0, 1}},
    {"div", 3, false, "\"floor\"", Op::kFloorDivide, {0, 1}},
    {"masked_fill", 3, false, "", Op::kWhere, {1, 2, 0}},
    {"where", 3, true, "", Op::kWhere, {1, 0, 2}},
};

std::string without_namespace(const std::string& name) {
  constexpr std::string_view kOurs = "tenon::";
  return name.starts_with(kOurs) ? name.substr(kOurs.size()) : name;
}

class Converter {
 public:
  Converter(Graph& graph, const std::vector<Parameter>& parameters, const Functions& functions)
      : g_(graph), functions_(functions) {
    for (const Parameter& parameter : parameters)
      names_[parameter.name] = parameter.is_tensor ? g_.variable(NodeKind::kTensor, parameter.name)
                                                   : g_.number(parameter.name, parameter.floating);
  }

  MaybeNode convert(const Formula& formula) {
    const auto& children = formula.children;
    switch (formula.kind) {
    case FormulaKind::kName: return name(formula.text);
    case FormulaKind::kLiteral: return literal(formula.text);
    case FormulaKind::kIndex: return name(print_formula(formula));  // grads[1]
    case FormulaKind::kParentheses: return convert(children[0]);
    case FormulaKind::kCall: return call(formula);
    case FormulaKind::kUnary: return unary(formula.operation, convert(children[0]));
    case FormulaKind::kBinary:
      return binary(formula.operation, convert(children[0]), convert(children[1]));
    case FormulaKind::kTernary: {
      // A C++ condition is one bool for the whole call.
      const MaybeNode condition = convert(children[0]);
      const MaybeNode yes = convert(children[1]);
      const MaybeNode no = convert(children[2]);
      if (!condition || !yes || !no || g_[*condition].domain != Domain::kScalar)
        return std::nullopt;
      return g_.call(Op::kWhere, {*condition, *yes, *no});
    }
    case FormulaKind::kLocal: {
      const MaybeNode value = convert(children[0]);
      if (!value) return std::nullopt;
      names_[formula.text] = *value;
      return convert(children[1]);
    }
    default: return std::nullopt;
    }
  }

 private:
  MaybeNode name(const std::string& text) {
    if (const auto it = names_.find(text); it != names_.end()) return it->second;
    const NamedConstant* constant = find_named_constant(text);
    return constant != nullptr ? MaybeNode(g_.constant(constant->value, false)) : MaybeNode();
  }

  MaybeNode literal(const std::string& text) {
    if (text == "true" || text == "false") return g_.mask_constant(text == "true");
    double value = 0;
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, value).ptr != end)
      return std::nullopt;  // a string, or a number with a suffix
    return g_.constant(value, text.find_first_of(".eE") == std::string::npos);
  }

  bool is_mask(NodeId id) const { return g_[id].value_kind == ValueKind::kMask; }

  MaybeNode unary(const std::string& operation, MaybeNode a) {
    if (!a) return a;
    if (operation == "-") return g_.call(Op::kNeg, {*a});
    if (operation == "+") return a;
    if (operation == "!" || (operation == "~" && is_mask(*a)))
      return g_.call(Op::kLogicalNot, {*a});
    return std::nullopt;
  }

  MaybeNode binary(const std::string& operation, MaybeNode a, MaybeNode b) {
    if (!a || !b) return std::nullopt;
    const auto found = binary_operators().find(operation);
    if (found == binary_operators().end()) return std::nullopt;  // a ?? b
    const Op op = found->second;
    if (op == Op::kRemainder || op == Op::kLshift || op == Op::kRshift) return std::nullopt;
    const bool of_masks = intrinsic(logical(op)).mask_arguments != 0;
    if (of_masks && (!is_mask(*a) || !is_mask(*b))) return std::nullopt;
    return g_.call(logical(op), {*a, *b});
  }

  MaybeNode call(const Formula& formula) {
    const Formula& callee = formula.children[0];
    std::vector<const Formula*> arguments;
    std::string function;
    if (callee.kind == FormulaKind::kMember) {
      function = callee.text;
      arguments.push_back(&callee.children[0]);
    } else if (callee.kind == FormulaKind::kName) {
      function = without_namespace(callee.text);
    } else {
      return std::nullopt;
    }
    for (std::size_t i = 1; i < formula.children.size(); ++i)
      arguments.push_back(&formula.children[i]);

    for (const CallForm& form : kCallForms) {
      if (form.function != function || form.arity != arguments.size()) continue;
      if (form.method_only && callee.kind != FormulaKind::kMember) continue;
      if (!form.mode.empty() && arguments.back()->text != form.mode) continue;
      std::vector<const Formula*> ordered;
      for (std::size_t i = 0; i < intrinsic(form.op).arity; ++i)
        ordered.push_back(arguments[form.order[i]]);
      return apply(form.op, ordered);
    }
    if (function == "to<double>" && arguments.size() == 1) {
      const MaybeNode self = convert(*arguments[0]);
      return self && g_[*self].kind == NodeKind::kScalar ? self : std::nullopt;
    }
    if (const Intrinsic* row = tensor_function(function, arguments.size()))
      return apply(row->op, arguments);
    return expand(function, arguments);
  }

  std::optional<std::vector<NodeId>> convert_all(const std::vector<const Formula*>& formulas) {
    std::vector<NodeId> nodes;
    bool has_element = false;
    for (const Formula* formula : formulas) {
      const MaybeNode node = convert(*formula);
      if (!node) return std::nullopt;
      has_element = has_element || g_[*node].domain == Domain::kElement;
      nodes.push_back(*node);
    }
    // A function of scalars alone is C++ of its own, such as exp(int).
    return has_element || formulas.size() == 1 ? std::optional(nodes) : std::nullopt;
  }

  MaybeNode apply(Op op, const std::vector<const Formula*>& arguments) {
    const auto nodes = convert_all(arguments);
    return nodes ? MaybeNode(g_.call(op, *nodes)) : std::nullopt;
  }

  MaybeNode expand(const std::string& function, const std::vector<const Formula*>& arguments) {
    const auto fits = [&](const Function& one) {
      return one.name == function && one.parameters.size() == arguments.size();
    };
    const auto found = std::find_if(functions_.begin(), functions_.end(), fits);
    if (found == functions_.end()) return std::nullopt;
    const auto nodes = convert_all(arguments);
    const std::string* body = found->body_for("floating");
    if (!nodes || body == nullptr) return std::nullopt;
    // A formula is one expression for every dtype: where complex numbers have another, it calls the
    // operator.
    const std::string* complex_body = found->body_for("complex");
    if (complex_body != nullptr && *complex_body != *body) return std::nullopt;
    GraphBuilder::Names names;
    for (std::size_t i = 0; i < nodes->size(); ++i) names[found->parameters[i]] = (*nodes)[i];
    std::vector<ExprError> errors;
    return GraphBuilder(g_, std::move(names), {.shared = &functions_, .category = "floating"})
        .add(*body, errors);
  }

  Graph& g_;
  GraphBuilder::Names names_;
  const Functions& functions_;
};

}  // namespace

std::optional<Expression> to_pointwise(const Formula& formula,
                                       const std::vector<Parameter>& parameters,
                                       const Functions& functions) {
  Expression expression;
  expression.parameters = parameters;
  const MaybeNode node = Converter(expression.graph, parameters, functions).convert(formula);
  if (!node || expression.graph[*node].domain != Domain::kElement) return std::nullopt;
  expression.outputs.push_back(*node);
  return expression;
}

bool is_pointwise(const Formula& formula, const std::vector<Parameter>& parameters,
                  const Functions& functions) {
  return to_pointwise(formula, parameters, functions).has_value();
}

}  // namespace tenon::codegen::expr
