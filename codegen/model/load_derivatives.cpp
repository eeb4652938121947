#include <unordered_map>

#include "codegen/expr/formula.h"
#include "codegen/model/expression.h"
#include "codegen/model/loaders.h"
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
  DerivativeReader(DiagnosticSink& sink, const std::vector<Operator>& operators,
                   const BrokenNames& broken, bool complete)
      : reader_(sink), operators_(operators), broken_(broken), complete_(complete) {
    for (size_t i = 0; i < operators.size(); ++i) {
      by_name_.try_emplace(operators[i].name(), i);
      if (operators[i].variants.inplace || operators[i].variants.out) {
        for (const VariantSchema& variant : variant_schemas(operators[i])) {
          if (variant.derived) derived_.try_emplace(variant.schema.qualified_name(), i);
        }
      }
      for (const LocatedName& name : operators[i].autogen) generated_.try_emplace(name.text, i);
    }
  }

  void read(const YamlNode& entry, std::vector<Derivative>& derivatives) {
    if (!entry.is_map()) {
      reader_.wrong_kind(entry, "an entry", "a map with the key `name`");
      return;
    }
    Derivative derivative;
    const bool bound = bind(entry, derivative);
    FormulaSet plain;
    plain.key = {"Default", entry.location};
    bool has_dispatch = false;
    reader_.map(entry,
                [&](const LocatedName& key, const YamlNode& key_node, const YamlNode& value) {
                  if (key.text == "name") return;
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
    derivatives.push_back(std::move(derivative));
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

  // Finds the operator that `name` means.
  bool bind(const YamlNode& entry, Derivative& derivative) {
    for (const auto& [key, value] : entry.entries) {
      if (!key->is_scalar() || trimmed(key->scalar).text != "name") continue;
      derivative.location = key->location;
      std::optional<SourceString> text = reader_.text(*value, "`name`");
      if (!text) return false;
      derivative.name = std::move(*text);
      return derivative.name.text.find('(') == std::string::npos ? bind_name(derivative)
                                                                 : bind_schema(derivative);
    }
    const RuleScope scope(reader_.sink(), "missing_key");
    reader_.sink().error(entry.location,
                         "an entry needs `name`, the operator that it differentiates");
    return false;
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
    if (complete_ && !broken_.contains(name)) {
      const RuleScope scope(reader_.sink(), "known_operator");
      reader_.sink().error(location, "unknown operator `" + name + "`", nearest_operator(name));
    }
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
  const std::vector<Operator>& operators_;
  const BrokenNames& broken_;
  const bool complete_;  // whether all files of operators could be read
  std::unordered_map<std::string, size_t> by_name_;
  std::unordered_map<std::string, size_t> derived_;    // in-place and out forms
  std::unordered_map<std::string, size_t> generated_;  // by `autogen`
};

}  // namespace

void load_derivatives(const YamlNode& root, DiagnosticSink& sink,
                      const std::vector<Operator>& operators, const BrokenNames& broken,
                      bool complete, std::vector<Derivative>& derivatives) {
  DerivativeReader reader(sink, operators, broken, complete);
  for (const YamlPtr& entry : root.items) reader.read(*entry, derivatives);
}

}  // namespace tenon::codegen::detail
