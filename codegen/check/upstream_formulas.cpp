// Conventions of upstream's derivatives.yaml alone: there sizes are symbolic, and strides may be
// missing.

#include <algorithm>
#include <functional>

#include "codegen/check/rules.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/suggest.h"

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

const std::vector<std::string>& upstream_namespaces() {
  static const std::vector<std::string> words = {"GradMode", "at", "c10", "std", "torch"};
  return words;
}

// Functions and methods of PyTorch that are no operators, and yet nearly have the name of one.
const std::vector<std::string>& upstream_names() {
  static const std::vector<std::string> words = {"fmap", "is_xpu", "sym_sizes", "sym_strides",
                                                 "value"};
  return words;
}

// schema::edit_distance(a, b) <= 1, of which there are very many to tell.
bool one_slip(std::string_view a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  if (std::max(a.size(), b.size()) > shorter + 1) return false;
  size_t front = 0, back = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  const size_t rest = std::max(a.size(), b.size()) - front - back;
  const bool swapped =
      rest == 2 && a.size() == b.size() && a[front] == b[front + 1] && a[front + 1] == b[front];
  return rest <= 1 || swapped;
}

// The name that is one slip of the fingers away, if `name` is none itself.
std::string slip_of(const std::string& name, const std::vector<std::string>& known) {
  constexpr size_t kShort = 3;  // such words are near to others by chance
  if (name.size() <= kShort || contains(upstream_names(), name) ||
      std::binary_search(known.begin(), known.end(), name))
    return {};
  for (const std::string& candidate : known) {
    if (one_slip(name, candidate)) return candidate;
  }
  return {};
}

}  // namespace

// What upstream's formulas call is for the most part no operator but C++ of its own, which is not
// known here. What is nearly a known name is most likely meant to be it.
void upstream_calls(const FormulaContext& context) {
  const auto look = [&](const codegen::Formula& source, const Formula& tree) {
    const auto warn = [&](size_t offset, size_t length, const std::string& message,
                          const std::string& suggestion) {
      context.sink.report({Severity::kWarning,
                           source.text.at(offset),
                           message,
                           {{context.op.location, "the operator is declared here"}},
                           suggestion,
                           source.text.end_at(offset + length)});
    };
    const std::function<void(const Formula&)> visit = [&](const Formula& formula) {
      for (const Formula& child : formula.children) visit(child);
      if (formula.kind != FormulaKind::kCall) return;
      const Formula& callee = formula.children[0];
      const bool method = callee.kind == FormulaKind::kMember;
      if (!method && callee.kind != FormulaKind::kName) return;
      const size_t colons = method ? std::string::npos : callee.text.rfind("::");
      if (colons == std::string::npos) {
        const std::string meant = slip_of(callee.text, context.calls.names());
        if (meant.empty()) return;
        const size_t length = callee.text.size();
        warn(callee.offset + callee.length - length, length,
             "unknown " + std::string(method ? "method" : "function") + " `" + callee.text + "`",
             meant);
        return;
      }
      const std::string ns = callee.text.substr(0, callee.text.find("::"));
      if (contains(upstream_namespaces(), ns)) return;
      warn(callee.offset, ns.size(), "unknown namespace `" + ns + "`",
           schema::nearest(ns, upstream_namespaces()));
    };
    visit(tree);
  };
  for (const BackwardFormula& formula : context.analysis.backward) {
    look(*formula.source, formula.written);
  }
  for (const ForwardFormula& formula : context.analysis.forward) {
    if (formula.source->kind != codegen::FormulaKind::kExpression) continue;
    look(*formula.source, expr::parse_formula(formula.source->text.text).formula);
  }
}

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
