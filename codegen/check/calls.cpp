#include "codegen/check/calls.h"

#include <algorithm>

#include "codegen/check/formula_checker.h"

namespace tenon::codegen {

const std::vector<FormulaFunction>& formula_functions() {
  static const std::vector<FormulaFunction> functions = {
      {"cat_tensors_backward", 3, false}, {"maybe_multiply", 2, true},
      {"not_implemented", 1, true},       {"of_channels", 2, true},
      {"split_backward", 5, true},        {"split_with_sizes_backward", 5, true},
      {"to_args_sizes", 1, false},        {"unbind_backward", 4, true},
  };
  return functions;
}

const std::vector<CompositionFunction>& composition_functions() {
  using schema::BaseType;
  static const std::vector<CompositionFunction> functions = {
      {"get_default_dtype", {}, BaseType::kScalarType},
      {"is_integral", {BaseType::kScalarType, BaseType::kBool}, BaseType::kBool},
      {"promote_types", {BaseType::kScalarType, BaseType::kScalarType}, BaseType::kScalarType},
      {"wrap_dim", {BaseType::kInt, BaseType::kInt}, BaseType::kInt},
      {"Scalar", {BaseType::kFloat}, BaseType::kScalar},
  };
  return functions;
}

CallChecker::CallChecker(const Model& model, const Model* base) : model_(model) {
  add(model);
  if (base != nullptr) add(*base);
  names_ = names_of(functions_);
  for (const std::string& method : names_of(methods_)) names_.push_back(method);
  names_.insert(names_.end(), tensor_methods().begin(), tensor_methods().end());
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

bool CallChecker::is_definition(const std::string& name) const {
  const std::vector<Definition>& all = model_.definitions();
  return std::any_of(all.begin(), all.end(),
                     [&](const Definition& one) { return one.name.text == name; });
}

void CallChecker::add(const Model& model) {
  for (size_t i = 0; i < model.operators().size(); ++i) {
    const Operator& op = model.operators()[i];
    for (const VariantSchema& form : model.variants(i)) {
      const std::string& name = form.schema.name;
      const std::string function = form.schema.is_out() ? name + "_out" : name;
      if (form.function) functions_[function].push_back(overload_of(op, form, false));
      if (form.method) methods_[name].push_back(overload_of(op, form, true));
    }
  }
}

void CallChecker::check(const Derivative& derivative, const Formula& formula,
                        const expr::Formula& tree, DiagnosticSink& sink,
                        std::vector<Call>& made) const {
  FormulaChecker(*this, functions_, methods_, derivative, formula, sink, &made).check(tree);
}

void CallChecker::check(const Derivative& derivative, const Formula& formula,
                        const expr::Formula& tree, DiagnosticSink& sink) const {
  const RuleScope scope(sink, "formula_calls");
  FormulaChecker(*this, functions_, methods_, derivative, formula, sink).check(tree);
}

}  // namespace tenon::codegen
