// Conventions of upstream's derivatives.yaml alone: there sizes are symbolic, and strides may be
// missing.

#include <algorithm>
#include <functional>

#include "codegen/check/rules.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen::rules {

namespace {

using expr::Formula;
using expr::FormulaKind;

// Calls of methods: `x.name(...)` and `x->name(...)`.
void for_each_method(const Formula& formula, const std::function<void(const Formula&)>& visit) {
  if (formula.kind == FormulaKind::kCall && formula.children[0].kind == FormulaKind::kMember) {
    visit(formula);
  }
  for (const Formula& child : formula.children) for_each_method(child, visit);
}

// `-1` and `0`.
bool is_number(const Formula& formula) {
  const bool negative = formula.kind == FormulaKind::kUnary && formula.operation == "-";
  return (negative ? formula.children[0] : formula).kind == FormulaKind::kLiteral;
}

}  // namespace

void symbolic_sizes(const FormulaContext& context) {
  for (const BackwardFormula& formula : context.analysis.backward) {
    for_each_method(formula.written, [&](const Formula& call) {
      const Formula& callee = call.children[0];
      const std::string& name = callee.text;
      const size_t arguments = call.children.size() - 1;
      const bool plain = (arguments == 0 && (name == "sizes" || name == "strides")) ||
                         (arguments == 1 && name == "size" && is_number(call.children[1]));
      if (!plain) return;
      context.error(*formula.source, callee.offset + callee.length - name.size(),
                    "`." + name + "()` loses symbolic sizes", "sym_" + name);
    });
  }
}

void strides_of_input(const FormulaContext& context) {
  for (const BackwardFormula& formula : context.analysis.backward) {
    for_each_method(formula.written, [&](const Formula& call) {
      const Formula& callee = call.children[0];
      const Formula& of = callee.children[0];
      if (callee.text != "sym_strides" || of.kind != FormulaKind::kName) return;
      if (context.derivative.schema.find_arg(of.text) == nullptr) return;
      const std::vector<LocatedName>& names = formula.source->names;
      const bool own = names.size() == 1 && names[0].text == of.text;
      if (own && !(context.derivative.schema.is_inplace() && of.text == "self")) return;
      context.error(
          *formula.source, callee.offset,
          "strides are kept only for the gradient of the tensor that has them, and not of "
          "one that is overwritten");
    });
  }
}

void output_condition(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  if (!derivative.output_condition) return;
  if (derivative.schema.returns.size() == 1 && derivative.output_differentiability.empty()) return;
  sink.report({Severity::kError,
               derivative.output_condition->location,
               "a condition in `output_differentiability` needs an operator with one output",
               {{model.operators()[derivative.target].location, "the operator is declared here"}},
               {}});
}

void decomposing_derivative(const FormulaContext& context) {
  const std::vector<DispatchEntry>& dispatch = context.op.dispatch;
  const bool decomposes_everywhere =
      context.op.is_composite_implicit(Dialect::kUpstream) &&
      std::all_of(dispatch.begin(), dispatch.end(), [](const DispatchEntry& kernel) {
        return kernel.key.starts_with("CompositeImplicitAutograd");
      });
  if (context.analysis.inputs.empty() || !decomposes_everywhere) return;
  context.sink.report({Severity::kError,
                       context.derivative.location,
                       "`" + context.op.name() +
                           "` decomposes into operators that have derivatives; to give it its own, "
                           "name its kernels in `dispatch`",
                       {{context.op.location, "the operator is declared here"}},
                       {}});
}

}  // namespace tenon::codegen::rules
