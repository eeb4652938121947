#include "codegen/check/check.h"

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

// Rules that upstream's files follow too.
constexpr void (*kCommonRules[])(const rules::Entry&) = {
    rules::known_dispatch_key,      rules::known_tag,           rules::known_python_module,
    rules::known_category_override, rules::kernel_name,         rules::no_default_argument,
    rules::inplace_schema,          rules::out_schema,          rules::mutable_returns,
    rules::view_annotation,         rules::method_needs_self,   rules::method_of_module,
    rules::out_function_only,       rules::structured_delegate, rules::structured_only,
    rules::one_composite_key,
};

constexpr void (*kTenonRules[])(const rules::Entry&) = {
    rules::reserved_argument_name,
    rules::mutable_self,
    rules::out_base_name,
    rules::derivable_inplace,
    rules::derivable_out,
    rules::out_name_needs_out,
    rules::computed,
    rules::computed_once,
    rules::structured_schema,
    rules::structured_dispatch,
    rules::pointwise_schema,
    rules::pointwise_cases,
    rules::promote_needs_pointwise,
    rules::seeded_tag,
    rules::differentiated,
    rules::differentiated_once,
};

constexpr void (*kDerivativeRules[])(const Model&, const Derivative&, DiagnosticSink&) = {
    rules::derivative_argument, rules::derivative_type, rules::derivative_once,
    rules::derivative_kind,     rules::derivative_key,  rules::derivative_outputs,
    rules::derivative_of_out,
};

}  // namespace

void run_checks(const Model& model, DiagnosticSink& sink) {
  rules::unique_operators(model, sink);
  rules::unique_cpp_names(model, sink);
  rules::unique_derivatives(model, sink);
  for (const Family& family : model.families()) {
    rules::one_form_per_kind(model, family, sink);
    rules::autogen(model, family, sink);
  }
  for (size_t i = 0; i < model.operators().size(); ++i) {
    const rules::Entry entry{model, i, model.operators()[i], sink};
    for (const auto rule : kCommonRules) rule(entry);
    if (model.dialect() == Dialect::kUpstream) continue;
    for (const auto rule : kTenonRules) rule(entry);
  }
  for (const Derivative& derivative : model.derivatives()) {
    for (const auto rule : kDerivativeRules) rule(model, derivative, sink);
    // Upstream writes an entry without formulas for an operator whose gradients are not
    // implemented.
    if (model.dialect() == Dialect::kTenon) {
      rules::derivative_empty(model, derivative, sink);
      rules::derivative_condition(model, derivative, sink);
    }
  }
}

}  // namespace tenon::codegen
