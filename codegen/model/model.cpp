#include "codegen/model/model.h"

namespace tenon::codegen {

namespace {

std::string group_name(const Operator& op) {
  const std::string base = op.base_name();
  return op.schema.ns.empty() ? base : op.schema.ns + "::" + base;
}

}  // namespace

Model::Model(Parts parts) : parts_(std::move(parts)) {
  std::map<std::string, std::vector<size_t>> by_base;
  variants_.reserve(parts_.operators.size());
  for (size_t i = 0; i < parts_.operators.size(); ++i) {
    const Operator& op = parts_.operators[i];
    variants_.push_back(variant_schemas(op));
    by_base[group_name(op)].push_back(i);
    by_name_.try_emplace(op.name(), OperatorRef{i, 0});
  }
  // Entries come before derived forms: an entry that collides with one is the one that is meant.
  for (size_t i = 0; i < variants_.size(); ++i) {
    for (size_t v = 1; v < variants_[i].size(); ++v) {
      by_name_.try_emplace(variants_[i][v].schema.qualified_name(), OperatorRef{i, v});
    }
  }
  for (auto& [name, operators] : by_base) groups_.push_back({name, std::move(operators)});
  families_ = make_families(parts_.operators, variants_, parts_.dialect);

  for (size_t d = 0; d < parts_.derivatives.size(); ++d) {
    derivative_of_.try_emplace(parts_.derivatives[d].target, d);
  }
  inherited_ = inherit_derivatives(families_, parts_.operators, parts_.derivatives);
  for (const InheritedDerivative& one : inherited_) {
    const bool inplace = one.form->origin == Form::Origin::kEntry &&
                         one.form->schema.is_inplace_name() &&
                         one.from == InheritedDerivative::From::kFunctional;
    if (!inplace) continue;
    const auto d = static_cast<size_t>(one.derivative - parts_.derivatives.data());
    derivative_of_.try_emplace(one.form->op, d);
  }
}

const expr::Functions& Model::functions() const {
  static const expr::Functions none;
  return parts_.functions ? *parts_.functions : none;
}

const OperatorRef* Model::find(std::string_view name) const {
  const auto known = by_name_.find(std::string(name));
  return known == by_name_.end() ? nullptr : &known->second;
}

const Derivative* Model::derivative_of(size_t op) const {
  const auto known = derivative_of_.find(op);
  return known == derivative_of_.end() ? nullptr : &parts_.derivatives[known->second];
}

bool Model::has_broken_form(std::string_view base_name) const {
  for (const std::string& broken : parts_.broken) {
    std::string_view name = broken;
    name = name.substr(0, name.find('.'));
    if (const size_t colons = name.rfind("::"); colons != std::string_view::npos) {
      name.remove_prefix(colons + 2);
    }
    if (name.ends_with('_')) name.remove_suffix(1);
    if (name == base_name) return true;
  }
  return false;
}

const Tag* Model::find_tag(std::string_view name) const {
  for (const Tag& tag : parts_.tags) {
    if (tag.name.text == name) return &tag;
  }
  return nullptr;
}

}  // namespace tenon::codegen
