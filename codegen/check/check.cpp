#include "codegen/check/check.h"

#include <variant>

#include "codegen/check/rules.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen {

namespace rules {

Location Entry::at_key(std::string_view key) const {
  const Location* place = op.key_location(key);
  return place == nullptr ? op.location : *place;
}

bool Entry::has_unknown_key() const {
  for (const LocatedName& key : op.keys) {
    if (!contains(operator_keys(model.dialect()), key.text)) return true;
  }
  return false;
}

}  // namespace rules

namespace {

using namespace rules;  // the table below names each

enum class In : uint8_t { kBoth, kTenon, kUpstream };

struct Rule {
  const char* name;
  In dialects;
  std::variant<ModelRule, FamilyRule, KeysRule, EntryRule, CallsRule, DerivativeRule, FormulaRule>
      run;
};

#define RULE(name, dialects) \
  Rule { #name, In::dialects, name }

const Rule kRules[] = {
    RULE(unique_operators, kBoth),
    RULE(unique_cpp_names, kBoth),
    RULE(unique_derivatives, kBoth),
    RULE(distinct_overloads, kTenon),
    RULE(definition, kTenon),
    RULE(alias_target, kTenon),
    RULE(distinct_headers, kTenon),
    RULE(view_copies, kUpstream),

    RULE(one_form_per_kind, kBoth),
    RULE(autogen, kBoth),
    RULE(functional_form, kTenon),
    RULE(structured_family, kUpstream),

    RULE(known_dispatch_key, kBoth),
    RULE(known_tag, kBoth),
    RULE(known_python_module, kBoth),
    RULE(known_category_override, kBoth),
    RULE(kernel_name, kBoth),
    RULE(reserved_argument_name, kBoth),
    RULE(reserved_operator_name, kTenon),
    RULE(generated_name, kTenon),
    RULE(output_parameter, kTenon),
    RULE(cpp_type, kTenon),
    RULE(identifier_keys, kBoth),
    RULE(no_default_argument, kBoth),
    RULE(alias_sets, kBoth),
    RULE(annotated_type, kBoth),
    RULE(mutable_before_self, kBoth),
    RULE(returned_argument, kBoth),
    RULE(tensor_options, kBoth),
    RULE(functional_overload, kBoth),
    RULE(dunder_name, kBoth),
    RULE(inplace_schema, kBoth),
    RULE(mutable_self, kTenon),
    RULE(out_schema, kBoth),
    RULE(out_base_name, kBoth),
    RULE(mutable_returns, kBoth),
    RULE(view_annotation, kBoth),
    RULE(inplace_view, kBoth),
    RULE(method_needs_self, kBoth),
    RULE(method_of_module, kBoth),
    RULE(derivable_inplace, kTenon),
    RULE(derivable_out, kTenon),
    RULE(out_name_needs_out, kTenon),
    RULE(out_function_only, kBoth),
    RULE(computed, kTenon),
    RULE(computed_once, kTenon),
    RULE(structured_schema, kTenon),
    RULE(structured_dispatch, kTenon),
    RULE(structured_out, kUpstream),
    RULE(structured_only, kBoth),
    RULE(structured_delegate, kBoth),
    RULE(delegated_kernel, kUpstream),
    RULE(one_composite_key, kBoth),
    RULE(redundant_dispatch, kUpstream),
    RULE(explicit_factory, kUpstream),
    RULE(foreach_device_check, kUpstream),
    RULE(manual_registration, kBoth),
    RULE(precomputed_lines, kBoth),
    RULE(ufunc_loops, kBoth),
    RULE(pointwise_schema, kTenon),
    RULE(pointwise_cases, kTenon),
    RULE(update_schema, kTenon),
    RULE(rowwise_keys, kTenon),
    RULE(rowwise_schema, kTenon),
    RULE(promote_needs_pointwise, kTenon),
    RULE(fuse_needs_composition, kTenon),
    RULE(check_needs_expression, kTenon),
    RULE(batched_needs_kernel, kTenon),
    RULE(pointwise_expression, kTenon),
    RULE(pointwise_arguments, kTenon),
    RULE(pointwise_dtypes, kTenon),
    RULE(pointwise_outputs, kTenon),
    RULE(random_expression, kTenon),
    RULE(update_expression, kTenon),
    RULE(rowwise_expression, kTenon),
    RULE(derivable_expression, kTenon),
    RULE(composition, kTenon),
    RULE(seeded_tag, kUpstream),
    RULE(differentiated, kTenon),
    RULE(differentiated_once, kTenon),
    RULE(derivative_shadowed, kBoth),

    RULE(derivative_argument, kBoth),
    RULE(derivative_type, kBoth),
    RULE(derivative_once, kBoth),
    RULE(derivative_missing, kTenon),
    RULE(derivative_kind, kBoth),
    RULE(derivative_key, kBoth),
    RULE(derivative_outputs, kBoth),
    RULE(derivative_of_out, kBoth),
    RULE(derivative_results, kTenon),
    // Upstream writes an entry without formulas for an operator whose gradients are not
    // implemented.
    RULE(derivative_empty, kTenon),
    RULE(derivative_condition, kTenon),
    RULE(output_condition, kUpstream),
    RULE(inplace_differentiability, kBoth),
    RULE(derivative_two_meanings, kBoth),

    RULE(formula_syntax, kBoth),
    RULE(formula_names, kBoth),
    RULE(gradient_names, kBoth),
    RULE(gradient_mask, kBoth),
    RULE(forward_names, kBoth),
    RULE(forward_automatic, kBoth),
    RULE(forward_inplace, kBoth),
    RULE(formula_calls, kTenon),
    RULE(upstream_calls, kUpstream),
    RULE(symbolic_sizes, kUpstream),
    RULE(strides_of_input, kUpstream),
    RULE(decomposing_derivative, kUpstream),
};

#undef RULE

// Runs the rules that `wanted` accepts. The formulas of a set are analysed once for all of them.
template <typename Wanted>
void run(const Model& model, const Model* base, DiagnosticSink& sink, Wanted wanted) {
  const CallChecker calls(model, base);
  const auto each = [&]<typename Kind>(Kind, const auto& call) {
    for (const Rule& rule : kRules) {
      if (const Kind* function = std::get_if<Kind>(&rule.run); function && wanted(rule)) {
        const RuleScope scope(sink, rule.name);
        call(*function);
      }
    }
  };
  each(ModelRule{}, [&](ModelRule rule) { rule(model, sink); });
  each(CallsRule{}, [&](CallsRule rule) { rule(model, calls, sink); });
  for (const Family& family : model.families()) {
    each(FamilyRule{}, [&](FamilyRule rule) { rule(model, family, sink); });
  }
  for (size_t i = 0; i < model.operators().size(); ++i) {
    const Entry entry{model, i, model.operators()[i], sink};
    each(KeysRule{}, [&](KeysRule rule) { rule({model, entry.op, sink}); });
    each(EntryRule{}, [&](EntryRule rule) { rule(entry); });
  }
  for (const Operator& op : model.unread()) {
    each(KeysRule{}, [&](KeysRule rule) { rule({model, op, sink}); });
  }
  for (const Derivative& derivative : model.derivatives()) {
    each(DerivativeRule{}, [&](DerivativeRule rule) { rule(model, derivative, sink); });
    const Operator& op = model.operators()[derivative.target];
    for (const FormulaSet& set : derivative.sets) {
      const Differentiability analysis = differentiability(op, derivative, set);
      const FormulaContext context{model, op, derivative, set, analysis, calls, sink};
      each(FormulaRule{}, [&](FormulaRule rule) { rule(context); });
    }
  }
}

}  // namespace

void run_checks(const Model& model, DiagnosticSink& sink, const Model* base) {
  const In own = model.dialect() == Dialect::kTenon ? In::kTenon : In::kUpstream;
  run(model, base, sink,
      [&](const Rule& rule) { return rule.dialects == In::kBoth || rule.dialects == own; });
}

const std::vector<std::string>& rule_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Rule& rule : kRules) all.emplace_back(rule.name);
    return all;
  }();
  return names;
}

bool run_rule(std::string_view name, const Model& model, DiagnosticSink& sink) {
  if (!contains(rule_names(), name)) return false;
  run(model, nullptr, sink, [&](const Rule& rule) { return rule.name == name; });
  return true;
}

}  // namespace tenon::codegen
