#include <algorithm>
#include <map>

#include "codegen/check/rules.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

using schema::Argument;

Note declared(const Model& model, const Derivative& derivative) {
  return {model.operators()[derivative.target].location, "the operator is declared here"};
}

void report(const Model& model, const Derivative& derivative, DiagnosticSink& sink,
            Location location, std::string message, std::string suggestion = {}) {
  sink.report({Severity::kError,
               location,
               std::move(message),
               {declared(model, derivative)},
               std::move(suggestion)});
}

template <typename Visit>
void for_each_backward(const Derivative& derivative, Visit visit) {
  for (const FormulaSet& set : derivative.sets) {
    for (const Formula& formula : set.backward) visit(formula);
  }
}

}  // namespace

bool has_unknown_input(const FormulaSet& set, const schema::FunctionSchema& schema) {
  return std::any_of(set.backward.begin(), set.backward.end(), [&](const Formula& formula) {
    return std::any_of(formula.names.begin(), formula.names.end(), [&](const LocatedName& name) {
      return schema.arg_index(name.text) < 0 && schema.return_index(name.text) < 0;
    });
  });
}

void derivative_argument(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  std::vector<std::string> candidates;
  for (const Argument& arg : derivative.schema.args) candidates.push_back(arg.name);
  for (size_t i = 0; i < derivative.schema.returns.size(); ++i) {
    candidates.push_back(derivative.schema.return_name(i));
  }
  for_each_backward(derivative, [&](const Formula& formula) {
    for (const LocatedName& name : formula.names) {
      // A joint formula may also give an output's tangent.
      if (contains(candidates, name.text)) continue;
      report(model, derivative, sink, name.location,
             "`" + derivative.schema.full_name() + "` has no argument named `" + name.text + "`",
             schema::nearest(name.text, candidates));
    }
  });
}

void derivative_type(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  for_each_backward(derivative, [&](const Formula& formula) {
    for (const LocatedName& name : formula.names) {
      const Argument* arg = derivative.schema.find_arg(name.text);
      if (arg == nullptr || formula.kind == FormulaKind::kNonDifferentiable) continue;
      const bool of_optionals =
          model.dialect() == Dialect::kTenon && arg->type.is_optional_tensor_list();
      if (of_optionals) {
        report(model, derivative, sink, name.location,
               "a list of optional tensors has no gradient here: declare `" + name.text +
                   ": non_differentiable`");
      }
      if (arg->type.holds_tensors()) continue;
      report(model, derivative, sink, name.location,
             "only tensors have a gradient; `" + name.text + "` is `" +
                 schema::to_string(arg->type) + "`");
    }
  });
}

void derivative_once(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  for (const FormulaSet& set : derivative.sets) {
    std::map<std::string_view, Location> seen;
    for (const auto* formulas : {&set.backward, &set.forward}) {
      for (const Formula& formula : *formulas) {
        for (const LocatedName& name : formula.names) {
          const auto [before, is_new] = seen.try_emplace(name.text, name.location);
          if (is_new) continue;
          sink.report({Severity::kError,
                       name.location,
                       "a second formula for `" + name.text + "`",
                       {{before->second, "the first is here"}, declared(model, derivative)},
                       {}});
        }
      }
    }
  }
}

// What has no formula would silently get no gradient, and what depends on it neither.
void derivative_missing(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  const schema::FunctionSchema& schema = derivative.schema;
  if (!derivative.complete || schema.kind() == schema::SchemaKind::kOut) return;
  for (const FormulaSet& set : derivative.sets) {
    if (set.backward.empty() || has_unknown_input(set, schema)) continue;
    for (const Argument& arg : schema.args) {
      if (!arg.type.holds_tensors() || set.find_backward(arg.name) != nullptr) continue;
      const bool default_set = set.key.text == "Default";
      report(model, derivative, sink, default_set ? derivative.location : set.key.location,
             "no formula for the argument `" + arg.name + "` of `" + schema.full_name() +
                 "`: give its gradient, or say `" + arg.name + ": non_differentiable`");
    }
  }
}

void derivative_empty(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  if (!derivative.complete) return;
  for (const FormulaSet& set : derivative.sets) {
    if (!set.backward.empty() || !set.forward.empty()) continue;
    if (derivative.output_differentiability_location.valid()) continue;
    report(model, derivative, sink, derivative.location, "the derivative has no formula");
  }
}

void derivative_kind(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  for (const FormulaSet& set : derivative.sets) {
    for (const Formula& formula : set.backward) {
      if (formula.kind == FormulaKind::kAutoLinear ||
          formula.kind == FormulaKind::kAutoElementWise) {
        report(model, derivative, sink, formula.text.location,
               "`" + formula.text.text + "` is a forward formula: its key must be an output");
      }
    }
    for (const Formula& formula : set.forward) {
      if (formula.kind != FormulaKind::kNonDifferentiable) continue;
      report(model, derivative, sink, formula.text.location,
             "outputs are declared in `output_differentiability`, not `non_differentiable`");
    }
  }
}

void derivative_key(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  for (const FormulaSet& set : derivative.sets) {
    if (contains(autograd_keys(), set.key.text)) continue;
    unknown_word(model, sink, set.key.location, "unknown autograd key `" + set.key.text + "`",
                 schema::nearest(set.key.text, autograd_keys()));
  }
}

void derivative_outputs(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  const size_t given = derivative.output_differentiability.size();
  const size_t outputs = derivative.schema.returns.size();
  if (given == 0) return;
  if (given != outputs) {
    report(model, derivative, sink, derivative.output_differentiability_location,
           "`output_differentiability` must have one value per output, " + std::to_string(outputs) +
               ", got " + std::to_string(given));
  }
}

void derivative_condition(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  if (!derivative.output_condition) return;
  report(model, derivative, sink, derivative.output_condition->location,
         "each of `output_differentiability` must be True or False, got `" +
             derivative.output_condition->text + "`");
}

void derivative_results(const FormulaContext& context) {
  const std::vector<bool>& outputs = context.analysis.outputs;
  const std::vector<schema::Return>& returns = context.op.schema.returns;
  for (const schema::Return& ret : returns) {
    const bool alone = ret.type.is_tensor_list() && returns.size() == 1;
    if (context.analysis.backward.empty() || ret.type.is_tensor() || alone) continue;
    report(context.model, context.derivative, context.sink, context.derivative.name.location,
           "an operator with a gradient returns tensors, or one list of them, got `" +
               schema::to_string(ret) + "`");
  }
  if (context.op.schema.is_inplace() || context.analysis.backward.empty() ||
      std::find(outputs.begin(), outputs.end(), true) != outputs.end())
    return;
  report(context.model, context.derivative, context.sink, context.derivative.name.location,
         "no output of `" + context.op.name() + "` is differentiable, so nothing has a gradient");
}

void derivative_of_out(const Model& model, const Derivative& derivative, DiagnosticSink& sink) {
  if (derivative.schema.kind() != schema::SchemaKind::kOut) return;
  report(model, derivative, sink, derivative.name.location,
         "an out form is not differentiable; differentiate the functional form");
}

void inplace_differentiability(const Model& model, const Derivative& derivative,
                               DiagnosticSink& sink) {
  const std::vector<bool>& declared = derivative.output_differentiability;
  if (!derivative.schema.is_inplace()) return;
  if (std::find(declared.begin(), declared.end(), false) == declared.end()) return;
  report(model, derivative, sink, derivative.output_differentiability_location,
         "what an in-place operator writes cannot be declared not differentiable: its version "
         "would not be counted");
}

void derivative_two_meanings(const Model&, const Derivative& derivative, DiagnosticSink& sink) {
  for (const FormulaSet& set : derivative.sets) {
    for (const Formula& formula : set.backward) {
      for (const LocatedName& name : formula.names) {
        const bool both =
            derivative.schema.find_arg(name.text) != nullptr &&
            std::any_of(derivative.schema.returns.begin(), derivative.schema.returns.end(),
                        [&](const schema::Return& r) { return r.name == name.text; });
        if (both) {
          sink.error(name.location, "`" + name.text + "` is an argument and an output of `" +
                                        derivative.schema.full_name() + "`: rename one of them");
        }
      }
    }
  }
}

}  // namespace tenon::codegen::rules
