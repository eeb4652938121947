#include "codegen/model/family.h"

#include <algorithm>
#include <unordered_map>

#include "codegen/model/signature.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {

namespace {

using schema::SchemaKind;

class Generator {
 public:
  Generator(const std::vector<Operator>& operators, Dialect dialect)
      : operators_(operators), dialect_(dialect) {}

  void complete(Family& family) const {
    if (all(family, [](const Operator& op) { return op.manual_cpp_binding; })) return;
    if (any(family, [](const Operator& op) { return op.is_view(); })) return;
    const bool decomposes =
        all(family, [&](const Operator& op) { return op.is_composite_implicit(dialect_); });
    if (decomposes && !any(family, [](const Operator& op) { return op.has_tag("core"); })) return;
    const Form* base = base_form(family);
    const bool out_alone = family.find(SchemaKind::kOut) != nullptr && family.forms.size() == 1;
    if (base == nullptr || out_alone) return;

    bool has_out = family.find(SchemaKind::kOut) != nullptr;
    const bool has_functional = family.find(SchemaKind::kFunctional) != nullptr;
    const Form made_of = *base;
    if (!has_out && asks_for_out(operators_[base->op])) {
      if (auto out = autogen_out(made_of.schema)) {
        family.forms.push_back(
            {made_of.op, std::move(*out), SchemaKind::kOut, Form::Origin::kGenerated});
        has_out = true;
      }
    }
    if (!has_functional && has_out) {
      family.forms.push_back({made_of.op, autogen_functional(made_of.schema),
                              SchemaKind::kFunctional, Form::Origin::kGenerated});
    }
  }

 private:
  template <typename Test>
  bool all(const Family& family, Test test) const {
    return std::all_of(family.forms.begin(), family.forms.end(),
                       [&](const Form& form) { return test(operators_[form.op]); });
  }
  template <typename Test>
  bool any(const Family& family, Test test) const {
    return std::any_of(family.forms.begin(), family.forms.end(),
                       [&](const Form& form) { return test(operators_[form.op]); });
  }

  static const Form* base_form(const Family& family) {
    for (const SchemaKind kind :
         {SchemaKind::kMutable, SchemaKind::kInplace, SchemaKind::kOut, SchemaKind::kFunctional}) {
      if (const Form* form = family.find(kind)) return form;
    }
    return nullptr;
  }

  static bool asks_for_out(const Operator& op) {
    return std::any_of(op.autogen.begin(), op.autogen.end(), [](const LocatedName& name) {
      return name.text.ends_with(".out") || name.text.ends_with("_out");
    });
  }

  const std::vector<Operator>& operators_;
  Dialect dialect_;
};

}  // namespace

const Form* Family::find(SchemaKind kind) const {
  for (const Form& form : forms) {
    if (form.kind == kind && form.origin != Form::Origin::kGenerated) return &form;
  }
  return nullptr;
}

std::vector<Family> make_families(const std::vector<Operator>& operators,
                                  const std::vector<std::vector<VariantSchema>>& variants,
                                  Dialect dialect) {
  std::vector<Family> families;
  std::unordered_map<std::string, size_t> by_signature;
  for (size_t i = 0; i < operators.size(); ++i) {
    for (const VariantSchema& variant : variants[i]) {
      const auto [known, is_new] =
          by_signature.try_emplace(schema::to_string(signature(variant.schema)), families.size());
      if (is_new) families.emplace_back();
      families[known->second].forms.push_back(
          {i, variant.schema, variant.kind,
           variant.derived ? Form::Origin::kVariant : Form::Origin::kEntry});
    }
  }
  const Generator generator(operators, dialect);
  for (Family& family : families) generator.complete(family);
  return families;
}

}  // namespace tenon::codegen
