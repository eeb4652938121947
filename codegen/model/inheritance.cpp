#include "codegen/model/inheritance.h"

#include <set>
#include <string>
#include <unordered_map>

#include "codegen/model/signature.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {

namespace {

using schema::Argument;
using schema::FunctionSchema;
using schema::SchemaKind;

constexpr std::string_view kForeach = "_foreach_";

bool is_foreach(const FunctionSchema& schema) { return schema.name.starts_with(kForeach); }

// `scalar` does to one tensor what `foreach` does to each of a list: the same name, and arguments
// of the same types or of the types of the lists' elements. Further arguments need a default.
bool is_scalar_form(const FunctionSchema& scalar, const FunctionSchema& foreach) {
  if (foreach.base_name().substr(kForeach.size()) != scalar.base_name()) return false;
  const std::vector<const Argument*> of_scalar = scalar.non_out_args();
  const std::vector<const Argument*> of_foreach = foreach.non_out_args();
  for (size_t i = 0; i < of_scalar.size(); ++i) {
    if (i >= of_foreach.size()) {
      if (!of_scalar[i]->default_value) return false;
      continue;
    }
    const schema::Type& type = of_foreach[i]->type;
    const bool same = of_scalar[i]->type == type ||
                      (!type.suffixes.empty() && of_scalar[i]->type == type.element());
    if (!same) return false;
  }
  return of_foreach.size() <= of_scalar.size();
}

class Inheritance {
 public:
  Inheritance(const std::vector<Family>& families, const std::vector<Operator>& operators,
              const std::vector<Derivative>& derivatives)
      : families_(families), operators_(operators) {
    for (const Derivative& derivative : derivatives) {
      own_.insert(derivative.schema.qualified_name());
      sources_.push_back({&derivative, derivative.schema});
    }
    add_view_copies();
    for (const Source& source : sources_) {
      auto& map = source.schema.kind() == SchemaKind::kFunctional ? functional_ : others_;
      map.try_emplace(key(signature(source.schema)), source.derivative);
    }
  }

  std::vector<InheritedDerivative> run() && {
    for (const Family& family : families_) {
      for (const Form& form : family.forms) add(form);
    }
    return std::move(result_);
  }

 private:
  using From = InheritedDerivative::From;
  struct Source {
    const Derivative* derivative;
    FunctionSchema schema;
  };

  static std::string key(const FunctionSchema& schema) { return schema::to_string(schema); }

  bool is_view(const Form& form) const {
    return form.origin != Form::Origin::kGenerated && operators_[form.op].is_view();
  }

  void add_view_copies() {
    std::unordered_map<std::string, const Form*> copies;
    for (const Family& family : families_) {
      for (const Form& form : family.forms) {
        const bool copies_view = form.kind == SchemaKind::kFunctional && !is_view(form) &&
                                 view_signature(form.schema).name != signature(form.schema).name;
        if (copies_view) copies.try_emplace(key(view_signature(form.schema)), &form);
      }
    }
    const size_t written = sources_.size();
    for (size_t i = 0; i < written; ++i) {
      const Derivative* derivative = sources_[i].derivative;
      const Operator& op = operators_[derivative->target];
      if (!op.is_view() || op.schema.is_inplace_name()) continue;
      const auto copy = copies.find(key(signature(derivative->schema)));
      if (copy == copies.end()) continue;
      const FunctionSchema& schema = copy->second->schema;
      if (!own_.insert(schema.qualified_name()).second) continue;
      sources_.push_back({derivative, schema});
      result_.push_back({copy->second, derivative, From::kView});
    }
  }

  void add(const Form& form) {
    const bool generated = form.origin == Form::Origin::kGenerated;
    if (generated && form.kind == SchemaKind::kOut) return;
    if (own_.contains(form.schema.qualified_name())) return;
    if (is_foreach(form.schema)) {
      if (const Derivative* derivative = scalar_form(form.schema)) {
        result_.push_back({&form, derivative, From::kScalar});
      }
      return;
    }
    const std::string wanted = key(signature(form.schema));
    if (const auto known = functional_.find(wanted); known != functional_.end()) {
      result_.push_back({&form, known->second, From::kFunctional});
    } else if (const auto other = others_.find(wanted); generated && other != others_.end()) {
      result_.push_back({&form, other->second, From::kMutable});
    }
  }

  const Derivative* scalar_form(const FunctionSchema& foreach) const {
    for (const Source& source : sources_) {
      if (source.schema.kind() == SchemaKind::kFunctional && is_scalar_form(source.schema, foreach))
        return source.derivative;
    }
    if (!foreach.is_inplace_name()) return nullptr;
    for (const Source& source : sources_) {
      if (source.schema.is_inplace() && is_scalar_form(source.schema, foreach))
        return source.derivative;
    }
    return nullptr;
  }

  const std::vector<Family>& families_;
  const std::vector<Operator>& operators_;
  std::set<std::string> own_;
  std::vector<Source> sources_;  // in the order in which they are looked for
  std::unordered_map<std::string, const Derivative*> functional_, others_;
  std::vector<InheritedDerivative> result_;
};

}  // namespace

std::vector<InheritedDerivative> inherit_derivatives(const std::vector<Family>& families,
                                                     const std::vector<Operator>& operators,
                                                     const std::vector<Derivative>& derivatives) {
  return Inheritance(families, operators, derivatives).run();
}

}  // namespace tenon::codegen
