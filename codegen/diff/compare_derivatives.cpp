#include <optional>
#include <set>

#include "codegen/diff/compare_entry.h"

namespace tenon::codegen {
namespace {

using Names = std::set<std::string>;

/// What of an operator is differentiable.
struct Differentiable {
  Names arguments;
  Names tangents;  // outputs with a forward formula
  std::vector<bool> outputs;
  std::string formulas;  // all of them, for comparison
};

void read_formulas(const Derivative& derivative, Differentiable& result) {
  for (const FormulaSet& set : derivative.sets) {
    for (const auto* formulas : {&set.backward, &set.forward}) {
      const bool forward = formulas == &set.forward;
      for (const Formula& formula : *formulas) {
        result.formulas += set.key.text;
        for (const LocatedName& name : formula.names) result.formulas += " " + name.text;
        result.formulas += ": " + formula.text.text + "\n";
        if (formula.kind == FormulaKind::kNonDifferentiable ||
            formula.kind == FormulaKind::kNotImplemented) {
          continue;
        }
        for (const LocatedName& name : formula.names) {
          (forward ? result.tangents : result.arguments).insert(name.text);
        }
      }
    }
  }
  result.outputs = derivative.output_differentiability;
}

/// Empty where the files that were read do not say.
std::optional<Differentiable> differentiable(const Model& model, size_t index,
                                             bool with_derivatives) {
  const Operator& op = model.operators()[index];
  Differentiable result;
  if (op.non_differentiable) return result;
  if (const Derivative* derivative = model.derivative_of(index)) {
    read_formulas(*derivative, result);
    return result;
  }
  if (op.is_composite_implicit(model.dialect()) || op.as<Pointwise>() || op.as<Rowwise>()) {
    for (const schema::Argument& arg : op.schema.args) {
      if (arg.type.holds_tensors()) result.arguments.insert(arg.name);
    }
    return result;
  }
  if (!with_derivatives) return std::nullopt;
  return result;
}

void compare_arguments(const EntryPair& pair, const Differentiable& before,
                       const Differentiable& after, ChangeList& changes) {
  for (const std::string& name : before.arguments) {
    // An argument that is gone is reported as such.
    if (after.arguments.contains(name) || pair.new_op().schema.find_arg(name) == nullptr) continue;
    changes.add("removed-derivative", kBreaksCallers,
                "is no longer differentiable in argument `" + name + "`");
  }
  for (const std::string& name : after.arguments) {
    if (before.arguments.contains(name) || pair.old_op().schema.find_arg(name) == nullptr) continue;
    changes.add("added-derivative", kCompatible,
                "is now differentiable in argument `" + name + "`");
  }
}

}  // namespace

void compare_derivatives(const EntryPair& pair, bool with_derivatives, ChangeList& changes) {
  const auto before = differentiable(pair.before_model, pair.before, with_derivatives);
  const auto after = differentiable(pair.after_model, pair.after, with_derivatives);
  if (!before || !after) return;
  compare_arguments(pair, *before, *after, changes);
  for (const std::string& name : before->tangents) {
    if (after->tangents.contains(name)) continue;
    changes.add("removed-forward-derivative", kBreaksCallers,
                "no longer has a forward formula for `" + name + "`");
  }
  const schema::FunctionSchema& schema = pair.new_op().schema;
  for (size_t i = 0; i < after->outputs.size() && i < schema.returns.size(); ++i) {
    const bool was = i >= before->outputs.size() || before->outputs[i];
    if (!was || after->outputs[i] || before->arguments.empty()) continue;
    changes.add("removed-derivative", kBreaksCallers,
                "its output `" + schema.return_name(i) + "` is no longer differentiable");
  }
  const bool both = !before->formulas.empty() && !after->formulas.empty();
  if (both && before->formulas != after->formulas) {
    changes.add("formula", kCompatible, "its derivative has other formulas");
  }
}

}  // namespace tenon::codegen
