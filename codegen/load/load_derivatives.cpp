#include <algorithm>
#include <unordered_map>

#include "codegen/expr/formulas/formula.h"
#include "codegen/load/loaders.h"
#include "codegen/meaning/expression.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::detail {

namespace {

FormulaKind kind_of(const std::string& text) {
  if (text == "non_differentiable") return FormulaKind::kNonDifferentiable;
  if (text == "auto_linear") return FormulaKind::kAutoLinear;
  if (text == "auto_element_wise") return FormulaKind::kAutoElementWise;
  if (text.starts_with("not_implemented(")) return FormulaKind::kNotImplemented;
  return FormulaKind::kExpression;
}

class DerivativeReader {
 public:
  DerivativeReader(DiagnosticSink& sink, const Model* base, Model::Parts& parts)
      : reader_(sink), base_(base), parts_(parts), operators_(parts.operators) {
    for (size_t i = 0; i < operators_.size(); ++i) {
      by_name_.try_emplace(operators_[i].name(), i);
      if (operators_[i].variants.inplace || operators_[i].variants.out) {
        for (const VariantSchema& variant : variant_schemas(operators_[i])) {
          if (variant.derived) derived_.try_emplace(variant.schema.qualified_name(), i);
        }
      }
      for (const LocatedName& name : operators_[i].autogen) generated_.try_emplace(name.text, i);
    }
  }

  void read(const YamlNode& entry) {
    if (!entry.is_map()) {
      reader_.wrong_kind(entry, "an entry", "a map with the key `name`");
      return;
    }
    Derivative derivative;
    const YamlNode* name = name_key(entry);
    const bool bound = name != nullptr && bind(entry, *name, derivative);
    FormulaSet plain;
    plain.key = {"Default", entry.location};
    bool has_dispatch = false;
    reader_.map(entry,
                [&](const LocatedName& key, const YamlNode& key_node, const YamlNode& value) {
                  if (&key_node == name) return;
                  if (key.text == "output_differentiability") {
                    differentiability(key, value, derivative);
                  } else if (key.text == "dispatch") {
                    has_dispatch = true;
                    if (bound) dispatch(value, derivative);
                  } else if (!bound) {
                    check_syntax(value);
                  } else if (!misspelt_key(key, value, derivative)) {
                    formula(key_node, value, derivative, plain);
                  }
                });
    if (!bound) return;
    if (!has_dispatch || !plain.backward.empty() || !plain.forward.empty()) {
      if (has_dispatch) {
        const RuleScope scope(reader_.sink(), "derivative_form");
        reader_.sink().error(derivative.location,
                             "formulas stand either under `dispatch` or beside it, not both");
      }
      derivative.sets.insert(derivative.sets.begin(), std::move(plain));
    }
    parts_.derivatives.push_back(std::move(derivative));
  }

 private:
  // What can be said of a formula for an operator that nothing is known of.
  void check_syntax(const YamlNode& value) {
    if (!value.is_scalar()) return;
    const SourceString text = trimmed(value.scalar);
    const RuleScope scope(reader_.sink(), "formula_syntax");
    if (!text.text.empty())
      codegen::report(text, expr::parse_formula(text.text).errors, reader_.sink());
  }

  // The key `name`, or after saying so the one that is meant for it; null after reporting neither.
  const YamlNode* name_key(const YamlNode& entry) {
    constexpr schema::ForeignWord kForeign[] = {{"func", "name"}, {"schema", "name"}};
    const YamlNode* meant = nullptr;
    for (const auto& [key, value] : entry.entries) {
      if (!key->is_scalar()) continue;
      const std::string text = trimmed(key->scalar).text;
      if (text == "name") return key.get();
      if (meant == nullptr && !schema::suggest(text, {"name"}, kForeign).empty()) meant = key.get();
    }
    const RuleScope scope(reader_.sink(), meant != nullptr ? "known_key" : "missing_key");
    if (meant != nullptr) {
      reader_.sink().error(meant->location, "unknown key `" + trimmed(meant->scalar).text + "`",
                           "name");
    } else {
      reader_.sink().error(entry.location,
                           "an entry needs `name`, the operator that it differentiates");
    }
    return meant;
  }

  // Finds the operator that the value of `key` means.
  bool bind(const YamlNode& entry, const YamlNode& key, Derivative& derivative) {
    const auto named = std::find_if(entry.entries.begin(), entry.entries.end(),
                                    [&](const auto& one) { return one.first.get() == &key; });
    derivative.location = key.location;
    std::optional<SourceString> text = reader_.text(*named->second, "`name`");
    if (!text) return false;
    derivative.name = std::move(*text);
    return derivative.name.text.find('(') == std::string::npos ? bind_name(derivative)
                                                               : bind_schema(derivative);
  }

  bool find(const std::string& name, Location location, Derivative& derivative) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) {
      derivative.target = known->second;
      return true;
    }
    const auto derived = derived_.find(name);
    if (derived != derived_.end()) {
      const Operator& op = operators_[derived->second];
      const RuleScope scope(reader_.sink(), "derivative_of_derived");
      reader_.sink().report(
          {Severity::kError,
           location,
           "`" + name + "` is derived from `" + op.name() + "`, and so is its derivative",
           {{op.location, "`" + op.name() + "` is declared here"}},
           {}});
      return false;
    }
    if (!parts_.complete || parts_.broken.contains(name)) return false;
    const RuleScope scope(reader_.sink(), "known_operator");
    if (base_ != nullptr && base_->find(name) != nullptr) {
      reader_.sink().error(location, "`" + name +
                                         "` is an operator of the library that is added to, which "
                                         "says how it is differentiated");
      return false;
    }
    const std::string meant = nearest_operator(name);
    if (!meant.empty()) parts_.misnamed.insert(meant);
    reader_.sink().error(location, "unknown operator `" + name + "`", meant);
    return false;
  }

  bool bind_name(Derivative& derivative) {
    if (!find(derivative.name.text, derivative.name.location, derivative)) return false;
    derivative.schema = operators_[derivative.target].schema;
    return true;
  }

  bool bind_schema(Derivative& derivative) {
    const schema::ParseResult parsed = schema::parse_schema(derivative.name.text);
    reader_.sink().report(derivative.name, parsed.errors);
    if (!parsed.ok()) return false;
    const std::string name = parsed.schema->qualified_name();
    const auto generated = generated_.find(name);
    if (!by_name_.contains(name) && generated != generated_.end()) {
      derivative.target = generated->second;
      derivative.schema = *parsed.schema;
      return true;
    }
    if (!find(name, derivative.name.location, derivative)) return false;
    const Operator& op = operators_[derivative.target];
    derivative.schema = op.schema;
    const std::string wanted = schema::to_string(op.schema);
    const std::string written = schema::to_string(*parsed.schema);
    if (wanted == written) return true;
    const RuleScope scope(reader_.sink(), "derivative_schema");
    size_t same = 0;
    while (same < wanted.size() && same < written.size() && wanted[same] == written[same]) ++same;
    reader_.sink().report({Severity::kError,
                           derivative.name.at(std::min(same, derivative.name.text.size())),
                           "the schema differs from the operator's, which is `" + wanted + "`",
                           {{op.location, "the operator is declared here"}},
                           {}});
    return true;
  }

  std::string nearest_operator(const std::string& name) const {
    // The same base name with another overload is nearer than anything edit distance finds.
    const std::string base = name.substr(0, name.find('.'));
    std::vector<std::string> names, overloads;
    for (const Operator& op : operators_) {
      names.push_back(op.name());
      if (op.schema.name == base) overloads.push_back(op.name());
    }
    std::string best = schema::nearest(name, names);
    return best.empty() && !overloads.empty() ? overloads.front() : best;
  }

  // A list or a map is no formula, and where its key is nearly one that has such a value, that is
  // what is meant.
  bool misspelt_key(const LocatedName& key, const YamlNode& value, Derivative& derivative) {
    if (value.is_scalar() || derivative.schema.find_arg(key.text) != nullptr) return false;
    const std::string meant = schema::nearest(key.text, {"output_differentiability", "dispatch"});
    if (meant.empty()) return false;
    derivative.complete = false;
    const RuleScope scope(reader_.sink(), "known_key");
    reader_.sink().error(key.location, "unknown key `" + key.text + "`", meant);
    return true;
  }

  void differentiability(const LocatedName& key, const YamlNode& value, Derivative& derivative) {
    derivative.output_differentiability_location = key.location;
    if (!value.is_sequence()) {
      reader_.wrong_kind(value, "`output_differentiability`", "a list of True and False");
      return;
    }
    for (const YamlPtr& item : value.items) {
      const bool word =
          item->is_scalar() && item->scalar.text.find_first_of(" *()!|&") == std::string::npos;
      if (item->is_scalar() && !word) {
        derivative.output_condition = trimmed(item->scalar);
      } else if (std::optional<bool> one =
                     reader_.boolean(*item, "each of `output_differentiability`")) {
        derivative.output_differentiability.push_back(*one);
      }
    }
  }

  void dispatch(const YamlNode& value, Derivative& derivative) {
    if (!value.is_map()) {
      reader_.wrong_kind(value, "`dispatch`", "a map of autograd keys to formulas");
      derivative.complete = false;
      return;
    }
    reader_.map(value, [&](const LocatedName& key, const YamlNode&, const YamlNode& formulas) {
      if (!formulas.is_map()) {
        reader_.wrong_kind(formulas, "`" + key.text + "`", "a map of arguments to formulas");
        return;
      }
      FormulaSet set;
      set.key = key;
      reader_.map(formulas, [&](const LocatedName&, const YamlNode& names, const YamlNode& text) {
        formula(names, text, derivative, set);
      });
      derivative.sets.push_back(std::move(set));
    });
  }

  void formula(const YamlNode& key, const YamlNode& value, Derivative& derivative,
               FormulaSet& set) {
    Formula result;
    result.names = split_names(key.scalar);
    if (result.names.empty()) {
      const RuleScope scope(reader_.sink(), "derivative_form");
      reader_.sink().error(key.location, "a formula needs the name of an argument");
      return;
    }
    std::optional<SourceString> text =
        reader_.text(value, "the formula of `" + trimmed(key.scalar).text + "`");
    if (!text) {
      derivative.complete = false;
      return;
    }
    result.text = std::move(*text);
    result.kind = kind_of(result.text.text);
    // A name that is neither is kept as backward, where the checks report it.
    const schema::FunctionSchema& schema = derivative.schema;
    const std::string& first = result.names.front().text;
    const bool forward = schema.arg_index(first) < 0 &&
                         (schema.return_index(first) >= 0 || is_result(first, schema));
    (forward ? set.forward : set.backward).push_back(std::move(result));
  }

  // `result` and `resultN` also name returns that have names of their own.
  static bool is_result(const std::string& name, const schema::FunctionSchema& schema) {
    if (name == "result") return schema.returns.size() == 1;
    for (size_t i = 0; i < schema.returns.size(); ++i) {
      if (name == "result" + std::to_string(i)) return true;
    }
    return false;
  }

  Reader reader_;
  const Model* base_;
  Model::Parts& parts_;
  const std::vector<Operator>& operators_;
  std::unordered_map<std::string, size_t> by_name_;
  std::unordered_map<std::string, size_t> derived_;    // in-place and out forms
  std::unordered_map<std::string, size_t> generated_;  // by `autogen`
};

}  // namespace

void load_derivatives(const YamlNode& root, DiagnosticSink& sink, const Model* base,
                      Model::Parts& parts) {
  DerivativeReader reader(sink, base, parts);
  for (const YamlPtr& entry : root.items) reader.read(*entry);
}

}  // namespace tenon::codegen::detail
