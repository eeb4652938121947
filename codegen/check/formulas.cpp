// What formulas of derivatives.yaml say, beyond which arguments they are for.

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "codegen/check/rules.h"
#include "codegen/expr/formulas/foreign.h"
#include "codegen/meaning/expression.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

using expr::Formula;
using expr::FormulaKind;

void walk(const Formula& formula, const std::function<void(const Formula&)>& visit) {
  visit(formula);
  for (const Formula& child : formula.children) walk(child, visit);
}

bool is_name(const Formula& formula, std::string_view name) {
  return formula.kind == FormulaKind::kName && formula.text == name;
}

// The k of `grads[k]`.
std::optional<size_t> gradient_index(const Formula& formula) {
  if (formula.kind != FormulaKind::kIndex || !is_name(formula.children[0], "grads")) return {};
  const Formula& index = formula.children[1];
  const bool digits = index.kind == FormulaKind::kLiteral && !index.text.empty() &&
                      index.text.size() < 6 &&
                      std::all_of(index.text.begin(), index.text.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!digits) return std::nullopt;
  return std::stoul(index.text);
}

// Names of gradients of single outputs: grad_values for a differentiable `Tensor values`.
std::vector<std::string> named_gradients(const FormulaContext& context) {
  std::vector<std::string> names;
  const schema::FunctionSchema& schema = context.derivative.schema;
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const schema::Return& ret = schema.returns[i];
    const std::vector<bool>& declared = context.derivative.output_differentiability;
    const bool differentiable = declared.empty() || (i < declared.size() && declared[i]);
    if (!ret.name.empty() && differentiable && ret.type.holds_tensors()) {
      names.push_back("grad_" + ret.name);
    }
  }
  return names;
}

std::vector<std::string> names_of_forward(const FormulaContext& context) {
  std::vector<std::string> names = formula_constants(context);
  for (const schema::Argument& arg : context.derivative.schema.args) {
    const bool differentiable = contains_input(context, arg.name);
    if (!differentiable || arg.type.is_tensor_list()) names.push_back(arg.name);
    if (!differentiable && !arg.type.holds_tensors()) continue;
    names.push_back(arg.name + "_p");
    names.push_back(arg.name + "_t");
  }
  if (context.derivative.schema.is_inplace()) {
    names.insert(names.end(), {"original_self_p", "original_self_t"});
  }
  for (const std::string& name : result_names(context.derivative.schema)) names.push_back(name);
  return names;
}

// Words that stand for a formula, which a name alone may be meant for.
void add_words(const Formula& tree, std::vector<std::string> words,
               std::vector<std::string>& known) {
  if (tree.kind != FormulaKind::kName) return;
  known.insert(known.end(), words.begin(), words.end());
  known.emplace_back("not_implemented(\"why\")");
}

void report_names(const FormulaContext& context, const codegen::Formula& source,
                  const Formula& tree, const std::vector<std::string>& known) {
  std::vector<expr::ExprError> errors = expr::local_mistakes(tree, known);
  for (expr::ExprError& error : expr::undefined_names(tree, known)) {
    errors.push_back(std::move(error));
  }
  for (const expr::ExprError& error : errors) {
    context.error(source, error.offset, error.message, error.suggestion);
  }
}

}  // namespace

void FormulaContext::error(const codegen::Formula& formula, size_t offset, std::string message,
                           std::string suggestion) const {
  // The name at the place, if it is one; what follows a dot is another.
  size_t end = offset;
  const std::string& text = formula.text.text;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
    ++end;
  }
  sink.report({Severity::kError,
               formula.text.at(offset),
               std::move(message),
               {{op.location, "the operator is declared here"}},
               std::move(suggestion),
               formula.text.end_at(std::max(end, offset + 1))});
}

bool contains_input(const FormulaContext& context, std::string_view name) {
  return std::any_of(context.analysis.inputs.begin(), context.analysis.inputs.end(),
                     [&](const schema::Argument* arg) { return arg->name == name; });
}

std::vector<std::string> formula_constants(const FormulaContext& context) {
  std::vector<std::string> names = {
      "kFloat",  "kDouble",  "kLong",      "kInt",    "kBool",    "retain_variables", "M_E",
      "M_LOG2E", "M_LOG10E", "M_LN2",      "M_LN10",  "M_PI",     "M_PI_2",           "M_PI_4",
      "M_1_PI",  "M_2_PI",   "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2"};
  if (context.model.dialect() == Dialect::kTenon) return names;
  names.emplace_back("kCudnnDoubleBackwardMsg");
  // There the formulas of a list stand for each of its elements.
  if (context.op.schema.name.starts_with("_foreach_")) names.emplace_back("i");
  return names;
}

void formula_syntax(const FormulaContext& context) {
  for (const FormulaError& problem : context.analysis.errors) {
    context.error(*problem.formula, problem.error.offset, problem.error.message,
                  problem.error.suggestion);
  }
}

void formula_names(const FormulaContext& context) {
  std::vector<std::string> known = formula_constants(context);
  known.insert(known.end(), {"grad", "grads", "grad_input_mask"});
  for (const schema::Argument& arg : context.derivative.schema.args) known.push_back(arg.name);
  for (const std::string& name : result_names(context.derivative.schema)) known.push_back(name);
  for (const std::string& name : named_gradients(context)) known.push_back(name);
  for (const BackwardFormula& formula : context.analysis.backward) {
    std::vector<std::string> words = known;
    add_words(formula.written, {"non_differentiable"}, words);
    report_names(context, *formula.source, formula.written, words);
  }
}

// `x` in a forward formula could mean its value or its tangent.
void forward_names(const FormulaContext& context) {
  if (has_unknown_input(context.set, context.derivative.schema)) return;
  const std::vector<std::string> known = names_of_forward(context);
  for (const codegen::Formula& source : context.set.forward) {
    if (source.kind != codegen::FormulaKind::kExpression) continue;
    const expr::FormulaResult parsed = expr::parse_formula(source.text.text);
    if (!parsed.ok()) continue;
    for (const expr::NameUse& use : expr::free_names(parsed.formula)) {
      const schema::Argument* arg = context.derivative.schema.find_arg(use.name);
      const bool ambiguous = arg != nullptr && !use.is_callee &&
                             contains_input(context, use.name) && !arg->type.is_tensor_list();
      if (!ambiguous) continue;
      context.error(source, use.offset,
                    "`" + use.name + "` is ambiguous in a forward formula: write `" + use.name +
                        "_p` for its value or `" + use.name + "_t` for its tangent");
    }
    // What is ambiguous was reported.
    std::vector<std::string> names = known;
    for (const schema::Argument& arg : context.derivative.schema.args) names.push_back(arg.name);
    add_words(parsed.formula, {"auto_linear", "auto_element_wise"}, names);
    report_names(context, source, parsed.formula, names);
  }
}

// One way of naming gradients in all formulas of a set: `grad`, `grads[i]` or `grad_values`.
void gradient_names(const FormulaContext& context) {
  struct Use {
    const codegen::Formula* source;
    size_t offset;
    std::string name;
  };
  std::optional<Use> first;
  bool mixed = false, only_first_output = false, any_whole = false;
  const std::vector<std::string> named = named_gradients(context);
  const auto kind = [&](const std::string& name) {
    return name == "grad" || name == "grads" ? name : std::string("grad_");
  };
  std::optional<Use> zero;
  for (const BackwardFormula& formula : context.analysis.backward) {
    const size_t outputs = context.derivative.schema.returns.size();
    size_t indexed = 0, whole = 0;
    walk(formula.written, [&](const Formula& node) {
      if (const std::optional<size_t> index = gradient_index(node)) {
        ++indexed;
        if (*index >= outputs) {
          context.error(*formula.source, node.offset,
                        "`grads[" + std::to_string(*index) +
                            "]` is out of bounds: the operator has " + std::to_string(outputs) +
                            (outputs == 1 ? " output" : " outputs"));
        }
        if (*index == 0 && !zero) zero = Use{formula.source, node.offset, ""};
        only_first_output = only_first_output || *index == 0;
        any_whole = any_whole || *index != 0;
      }
      if (is_name(node, "grads")) ++whole;
    });
    any_whole = any_whole || whole > indexed;
    for (const expr::NameUse& use : expr::free_names(formula.written)) {
      const bool is_gradient =
          use.name == "grad" || use.name == "grads" || contains(named, use.name);
      if (!is_gradient || use.is_callee) continue;
      if (!first) first = Use{formula.source, use.offset, use.name};
      if (mixed || kind(first->name) == kind(use.name)) continue;
      mixed = true;
      context.error(*formula.source, use.offset,
                    "formulas of one operator name gradients in one way, but `" + first->name +
                        "` was used before `" + use.name + "`");
    }
  }
  if (mixed || !only_first_output || any_whole) return;
  context.error(*zero->source, zero->offset,
                "only the gradient of the first output is used: write `grad` and say in "
                "`output_differentiability` which outputs have none");
}

void gradient_mask(const FormulaContext& context) {
  for (const BackwardFormula& formula : context.analysis.backward) {
    const size_t bits = formula.source->names.size();
    walk(formula.written, [&](const Formula& node) {
      if (is_name(node, "grad_input_mask") && bits == 1) {
        context.error(*formula.source, node.offset,
                      "`grad_input_mask` says which gradients of a joint formula are wanted; this "
                      "formula gives one");
      }
      const bool index = node.kind == FormulaKind::kIndex &&
                         is_name(node.children[0], "grad_input_mask") &&
                         node.children[1].kind == FormulaKind::kLiteral;
      if (!index || bits == 1) return;
      const std::string& text = node.children[1].text;
      const bool digits =
          text.size() < 6 && std::all_of(text.begin(), text.end(),
                                         [](unsigned char c) { return std::isdigit(c) != 0; });
      if (!digits || std::stoul(text) < bits) return;
      context.error(*formula.source, node.offset,
                    "`grad_input_mask[" + text + "]` is out of bounds: the formula gives " +
                        std::to_string(bits) + " gradients");
    });
  }
}

void forward_automatic(const FormulaContext& context) {
  if (has_unknown_input(context.set, context.derivative.schema)) return;
  for (const codegen::Formula& source : context.set.forward) {
    const bool linear = source.kind == codegen::FormulaKind::kAutoLinear;
    const bool element_wise = source.kind == codegen::FormulaKind::kAutoElementWise;
    if (!linear && !element_wise) continue;
    const size_t inputs = context.analysis.inputs.size();
    if (context.set.forward.size() > 1 || source.names.size() > 1) {
      context.error(source, 0, "`" + source.text.text + "` needs a single differentiable output");
    } else if (linear && inputs == 0) {
      context.error(source, 0, "`auto_linear` needs an argument with a gradient");
    } else if (element_wise && context.derivative.schema.is_inplace()) {
      context.error(source, 0,
                    "`auto_element_wise` needs the functional form, for what it reads is "
                    "overwritten");
    } else if (element_wise && inputs != 1) {
      context.error(source, 0,
                    "`auto_element_wise` needs a single argument with a gradient, got " +
                        std::to_string(inputs));
    }
  }
}

// In place, the value of self is gone when its formula is evaluated.
void forward_inplace(const FormulaContext& context) {
  if (!context.derivative.schema.is_inplace()) return;
  for (size_t i = 1; i < context.set.forward.size(); ++i) {
    context.error(context.set.forward[i], 0, "an in-place operator has one forward formula");
  }
  for (const codegen::Formula& source : context.set.forward) {
    if (source.kind != codegen::FormulaKind::kExpression) continue;
    const expr::FormulaResult parsed = expr::parse_formula(source.text.text);
    for (const expr::NameUse& use : expr::free_names(parsed.formula)) {
      if (use.name != "self_p") continue;
      context.error(
          source, use.offset,
          "self was overwritten: `result` is its new value, `original_self_p` its old one",
          "original_self_p");
    }
  }
}

// Generated code and formulas have one name for each of these.
void derivative_shadowed(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  const Derivative* derivative = entry.model.derivative_of(entry.index);
  const bool written = derivative != nullptr && derivative->target == entry.index;
  const bool ours = entry.model.dialect() == Dialect::kTenon;
  const Location* expression = nullptr;
  if (entry.op.as<Pointwise>()) expression = &entry.op.as<Pointwise>()->location;
  if (entry.op.as<Rowwise>()) expression = &entry.op.as<Rowwise>()->location;
  if (!written && (!ours || expression == nullptr || lacks_write(schema))) return;
  std::vector<std::string> reserved = {"result", "grad_input_mask"};
  if (ours) {
    reserved.insert(reserved.end(), {"grad", "grads"});
    for (size_t i = 0; i < schema.returns.size(); ++i) {
      reserved.push_back("result" + std::to_string(i));
      reserved.push_back("grad_" + std::to_string(i));
      reserved.push_back("grad_" + schema.return_name(i));
      // Of written formulas derivative_two_meanings says so.
      if (!written) reserved.push_back(schema.return_name(i));
    }
  }
  for (const schema::Argument& arg : schema.args) {
    if (!contains(reserved, arg.name) || arg.is_mutable()) continue;
    const Note place = written ? Note{derivative->location, "its formulas are here"}
                               : Note{*expression, "they follow from this expression"};
    entry.sink.report({Severity::kError,
                       entry.op.at(arg.name_span),
                       "`" + arg.name +
                           "` has a meaning of its own in formulas and can name no argument "
                           "of an operator that has any",
                       {place},
                       {}});
  }
}

void formula_calls(const FormulaContext& context) {
  for (const BackwardFormula& formula : context.analysis.backward) {
    // A pointwise one becomes a kernel, whose functions are those of expressions.
    if (as_pointwise(context.op, context.analysis, formula)) continue;
    context.calls.check(context.derivative, *formula.source, formula.written, context.sink);
  }
  for (const ForwardFormula& formula : context.analysis.forward) {
    if (formula.source->kind != codegen::FormulaKind::kExpression) continue;
    const expr::FormulaResult parsed = expr::parse_formula(formula.source->text.text);
    context.calls.check(context.derivative, *formula.source, parsed.formula, context.sink);
  }
}

}  // namespace tenon::codegen::rules
