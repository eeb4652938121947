#include <algorithm>

#include "codegen/check/rules.h"
#include "codegen/model/signature.h"
#include "codegen/model/variants.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

using schema::SchemaKind;

/// Upstream's files make every form that a family lacks; ours those that are asked for, which are
/// operators like others.
bool is_generated(const Model& model, const Form& form) {
  if (model.dialect() == Dialect::kUpstream) return form.origin == Form::Origin::kGenerated;
  return form.origin == Form::Origin::kEntry && model.operators()[form.op].has_tag("generated");
}

std::vector<std::string> generated_names(const Model& model, const Family& family) {
  std::vector<std::string> names;
  for (const Form& form : family.forms) {
    const bool out = form.origin == Form::Origin::kVariant && form.kind == SchemaKind::kOut;
    if (is_generated(model, form) || out) names.push_back(form.schema.qualified_name());
  }
  return names;
}

// Every form that could be made of a family, for suggestions, but those that it names.
std::vector<std::string> possible_names(const Model& model, const Family& family) {
  std::vector<std::string> names;
  for (const Form& form : family.forms) {
    Operator functional;
    functional.schema = autogen_functional(form.schema);
    // Ours make the out form of the functional one.
    const auto out = model.dialect() == Dialect::kUpstream
                         ? autogen_out(form.schema)
                         : derive_out(functional.schema, out_overload(functional));
    if (out) names.push_back(out->qualified_name());
    names.push_back(functional.schema.qualified_name());
  }
  for (const Form& form : family.forms) {
    if (form.origin != Form::Origin::kEntry) continue;
    for (const LocatedName& asked : model.operators()[form.op].autogen)
      std::erase(names, asked.text);
  }
  return names;
}

}  // namespace

bool lacks_form(const Model& model, const Family& family) {
  return std::any_of(family.forms.begin(), family.forms.end(), [&](const Form& form) {
    return model.has_broken_form(form.schema.base_name());
  });
}

// A second form of a kind would leave it open which one the others are made of.
void one_form_per_kind(const Model& model, const Family& family, DiagnosticSink& sink) {
  for (size_t i = 0; i < family.forms.size(); ++i) {
    const Form& form = family.forms[i];
    if (form.origin != Form::Origin::kEntry) continue;
    const auto before =
        std::find_if(family.forms.begin(), family.forms.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const Form& other) {
                       return other.kind == form.kind &&
                              other.schema.qualified_name() != form.schema.qualified_name();
                     });
    if (before == family.forms.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    sink.report({Severity::kError,
                 model.operators()[form.op].at(form.schema.name_span),
                 "`" + form.schema.qualified_name() + "` and `" + before->schema.qualified_name() +
                     "` are the same " + std::string(schema::to_string(form.kind)) + " operator",
                 {{model.operators()[before->op].location, "the other is declared here"}},
                 {}});
  }
}

void autogen(const Model& model, const Family& family, DiagnosticSink& sink) {
  if (lacks_form(model, family)) return;
  const std::vector<std::string> generated = generated_names(model, family);
  // Upstream's files name forms of operators that decompose, which it does not make.
  if (generated.empty() && model.dialect() == Dialect::kUpstream) return;
  std::vector<std::string> asked;
  for (const Form& form : family.forms) {
    if (form.origin != Form::Origin::kEntry) continue;
    for (const LocatedName& name : model.operators()[form.op].autogen) {
      asked.push_back(name.text);
      if (contains(generated, name.text)) continue;
      const std::string what = generated.empty() ? "no form is" : join_words(generated) + " is";
      sink.error(name.location,
                 "`" + name.text + "` is not generated from this family of operators: " + what,
                 schema::nearest(name.text, possible_names(model, family)));
    }
  }
  // Our dialect makes these forms only where they are asked for.
  if (asked.empty() && model.dialect() == Dialect::kTenon) return;
  for (const Form& form : family.forms) {
    if (!is_generated(model, form)) continue;
    if (contains(asked, form.schema.qualified_name())) continue;
    const Operator& op = model.operators()[form.op];
    sink.error(op.at(op.schema.name_span), "the form `" + form.schema.qualified_name() +
                                               "` is generated as well: name it in `autogen`");
  }
}

// An out form computes what a functional form returns; without one it cannot be differentiated.
void functional_form(const Model& model, const Family& family, DiagnosticSink& sink) {
  const Form* out = family.find(SchemaKind::kOut);
  const bool alone = std::all_of(family.forms.begin(), family.forms.end(),
                                 [](const Form& form) { return form.kind == SchemaKind::kOut; });
  if (out == nullptr || !alone || lacks_form(model, family)) return;
  const Operator& op = model.operators()[out->op];
  // A name or returns that are wrong would be the reason.
  if (op.schema.name.ends_with("_out") || !out_problems(op.schema).empty()) return;
  sink.error(op.at(op.schema.name_span), "`" + op.name() + "` is an out form of no operator: `" +
                                             schema::to_string(signature(op.schema)) +
                                             "` does not exist");
}

void inplace_view(const Entry& entry) {
  const Operator& op = entry.op;
  if (!op.has_tag("inplace_view") || !op.is_view()) return;
  const schema::FunctionSchema& schema = op.schema;
  if (!schema.is_inplace_name()) {
    entry.sink.error(op.at(schema.name_span),
                     "`" + op.name() + "` has the tag `inplace_view`, so its name must end in `_`",
                     schema.name + "_");
    return;
  }
  const std::string wanted = signature(schema).name;
  const bool found = std::any_of(
      entry.model.families().begin(), entry.model.families().end(), [&](const Family& family) {
        return std::any_of(family.forms.begin(), family.forms.end(), [&](const Form& form) {
          return form.schema.name == wanted && form.schema.ns == schema.ns;
        });
      });
  if (found || entry.model.has_broken_form(wanted)) return;
  entry.sink.error(op.at(schema.name_span),
                   "the in-place view `" + op.name() + "` needs the view `" + wanted + "`");
}

}  // namespace tenon::codegen::rules
