#include "codegen/diff/compare.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "codegen/diff/compare_entry.h"
#include "codegen/diff/compare_schema.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

using schema::SchemaKind;

/// A form of an operator, written or derived.
struct Form {
  size_t op;
  const VariantSchema* variant;
};

std::map<std::string, Form> forms_of(const Model& model) {
  std::map<std::string, Form> forms;
  for (size_t i = 0; i < model.operators().size(); ++i) {
    for (const VariantSchema& variant : model.variants(i)) {
      const auto [known, is_new] =
          forms.try_emplace(variant.schema.qualified_name(), Form{i, &variant});
      // An entry is meant where a derived form has its name.
      if (!is_new && known->second.variant->derived && !variant.derived)
        known->second = {i, &variant};
    }
  }
  return forms;
}

std::string describe(const VariantSchema& form) {
  switch (form.schema.kind()) {
  case SchemaKind::kInplace: return "in-place form";
  case SchemaKind::kOut: return "out form";
  default: return "form";
  }
}

class Comparison {
 public:
  Comparison(const Model& before, const Model& after, bool with_derivatives)
      : before_(before), after_(after), with_derivatives_(with_derivatives),
        old_forms_(forms_of(before)), new_forms_(forms_of(after)) {}

  std::vector<Change> run() {
    for (const auto& [name, form] : old_forms_) {
      const auto found = new_forms_.find(name);
      if (found == new_forms_.end()) {
        list_.about(name, before_.operators()[form.op].location);
        removed(form);
      } else {
        list_.about(name, after_.operators()[found->second.op].location);
        compare(form, found->second);
      }
    }
    for (const auto& [name, form] : new_forms_) {
      if (old_forms_.contains(name)) continue;
      list_.about(name, after_.operators()[form.op].location);
      added(form);
    }
    std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
      return std::make_tuple(!a.breaks.any(), std::cref(a.op)) <
             std::make_tuple(!b.breaks.any(), std::cref(b.op));
    });
    return std::move(changes_);
  }

 private:
  void compare(const Form& before, const Form& after) {
    const bool derived = before.variant->derived && after.variant->derived;
    const bool same_entry =
        before_.operators()[before.op].name() == after_.operators()[after.op].name();
    // What changes in a derived form follows from a change in its entry.
    if (derived && same_entry) return;
    compare_schemas(before.variant->schema, after.variant->schema, list_);
    compare_flag(before.variant->method, after.variant->method, "a method");
    compare_flag(before.variant->function, after.variant->function, "a function");
    if (before.variant->derived || after.variant->derived) return;
    const EntryPair pair = {before_, before.op, after_, after.op};
    compare_keys(pair, list_);
    compare_derivatives(pair, with_derivatives_, list_);
  }

  void compare_flag(bool before, bool after, const std::string& what) {
    if (before && !after) {
      list_.add("removed-variant", kBreaksCallers, "is no longer " + what);
    } else if (after && !before) {
      list_.add("added-variant", kCompatible, "is now " + what);
    }
  }

  static bool has_base(const Model& model, const std::string& ns, const std::string& base) {
    return std::any_of(model.operators().begin(), model.operators().end(), [&](const Operator& op) {
      return op.schema.ns == ns && op.base_name() == base;
    });
  }

  void removed(const Form& form) {
    const schema::FunctionSchema& schema = form.variant->schema;
    if (const std::string renamed = new_name_of(form); !renamed.empty()) {
      list_.add("renamed-overload", kBreaksSerialized, "the overload is now `" + renamed + "`");
    } else if (!has_base(after_, schema.ns, schema.base_name())) {
      list_.add("removed-operator", kBreaksBoth, "the operator is gone");
    } else if (form.variant->derived) {
      list_.add("removed-variant", kBreaksBoth, "the " + describe(*form.variant) + " is gone");
    } else {
      list_.add("removed-overload", kBreaksBoth, "the overload is gone");
    }
  }

  /// The new name of the same schema under another overload name, which calls do not spell.
  std::string new_name_of(const Form& form) const {
    schema::FunctionSchema wanted = form.variant->schema;
    wanted.overload.clear();
    for (const auto& [name, candidate] : new_forms_) {
      if (old_forms_.contains(name)) continue;
      schema::FunctionSchema other = candidate.variant->schema;
      if (other.name != wanted.name) continue;
      other.overload.clear();
      if (schema::to_string(other) == schema::to_string(wanted)) return name;
    }
    return {};
  }

  void added(const Form& form) {
    const schema::FunctionSchema& schema = form.variant->schema;
    if (!has_base(before_, schema.ns, schema.base_name())) {
      list_.add("added-operator", kCompatible, "the operator is new");
    } else if (form.variant->derived) {
      list_.add("added-variant", kCompatible, "the " + describe(*form.variant) + " is new");
    } else {
      list_.add("added-overload", kCompatible, "the overload is new");
    }
  }

  const Model& before_;
  const Model& after_;
  bool with_derivatives_;
  std::map<std::string, Form> old_forms_, new_forms_;
  std::vector<Change> changes_;
  ChangeList list_{changes_};
};

}  // namespace

std::vector<Change> compare_models(const Model& before, const Model& after, bool with_derivatives) {
  return Comparison(before, after, with_derivatives).run();
}

}  // namespace tenon::codegen
