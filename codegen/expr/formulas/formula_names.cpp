#include "codegen/expr/formulas/formula_names.h"

#include "codegen/expr/formulas/foreign.h"
#include "codegen/expr/formulas/tensor_methods.h"
#include "codegen/schema/suggest.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tenon::codegen::expr {
namespace {

bool is_qualified(const std::string& name) {
  return name.find("::") != std::string::npos || name.find('<') != std::string::npos;
}

void collect(const Formula& formula, const Formula* parent, std::vector<NameUse>& uses) {
  if (formula.kind == FormulaKind::kName && !is_qualified(formula.text)) {
    const bool called =
        parent != nullptr && parent->kind == FormulaKind::kCall && &parent->children[0] == &formula;
    const bool owns = parent != nullptr && parent->kind == FormulaKind::kMember;
    uses.push_back({formula.text, formula.offset, formula.length, called, owns ? parent : nullptr});
  }
  if (formula.kind == FormulaKind::kLocal) {
    collect(formula.children[0], &formula, uses);
    const std::size_t before = uses.size();
    collect(formula.children[1], &formula, uses);
    const auto bound = [&](const NameUse& use) { return use.name == formula.text; };
    uses.erase(
        std::remove_if(uses.begin() + static_cast<std::ptrdiff_t>(before), uses.end(), bound),
        uses.end());
    return;
  }
  for (std::size_t i = 0; i < formula.children.size(); ++i) {
    const bool names_type = formula.kind == FormulaKind::kTypedBraces && i == 0;
    if (!names_type) collect(formula.children[i], &formula, uses);
  }
}

/// A function of one tensor whose value is kept in place of the tensor.
struct CallOfTensor {
  std::string_view name;
  std::string_view kept;  ///< what the variable is called after the tensor's name
  std::string_view cpp_type;
  std::string_view function;  ///< that computes it
};
constexpr CallOfTensor kCallsOfTensors[] = {
    {"TensorGeometry", "geometry", "TensorGeometry", "TensorGeometry"},
    {"to_args_sizes", "args_sizes", "std::vector<std::vector<int64_t>>", "to_args_sizes"},
    {"to_args_sizes_symint", "args_sizes", "std::vector<std::vector<int64_t>>", "to_args_sizes"},
    {"to_args_scalartypes", "args_scalartypes", "std::vector<ScalarType>", "to_args_scalartypes"},
};

/// Functions that need only a tensor's sizes and options, and those that take these.
constexpr std::pair<std::string_view, std::string_view> kFillsLikeTensors[] = {
    {"zeros_like", "zeros"}, {"ones_like", "ones"}};

std::string unqualified(const std::string& name) {
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

Formula make_name(const std::string& text, const Formula& place) {
  Formula name;
  name.text = text;
  name.offset = place.offset;
  name.length = place.length;
  return name;
}

class SavedRewriter {
 public:
  SavedRewriter(const std::vector<std::string>& savable, const std::set<std::string>& not_tensors)
      : savable_(savable), not_tensors_(not_tensors) {}

  Formula rewrite(const Formula& formula) {
    if (formula.kind == FormulaKind::kCall) {
      if (auto replaced = method(formula)) return *replaced;
      if (auto replaced = function(formula)) return *replaced;
    }
    if (formula.kind == FormulaKind::kName && is_savable(formula.text))
      save({formula.text, "", formula.text, "", ""});
    Formula result = formula;
    for (std::size_t i = 0; i < result.children.size(); ++i) {
      const bool callee = formula.kind == FormulaKind::kCall && i == 0 &&
                          result.children[0].kind == FormulaKind::kName;
      if (!callee) result.children[i] = rewrite(formula.children[i]);
    }
    return result;
  }

  std::vector<SavedValue> take() { return std::move(saved_); }

 private:
  bool is_savable(const std::string& name) const {
    return std::find(savable_.begin(), savable_.end(), name) != savable_.end();
  }

  bool is_tensor(const Formula& formula) const {
    return formula.kind == FormulaKind::kName && is_savable(formula.text) &&
           not_tensors_.count(formula.text) == 0;
  }

  void save(SavedValue value) {
    for (const SavedValue& known : saved_)
      if (known.variable == value.variable) return;
    saved_.push_back(std::move(value));
  }

  /// Keeps `attribute` of `self`, computed by the call `expression`; of an optional, an optional.
  Formula keep(const Formula& self, const std::string& attribute, const std::string& cpp_type,
               const std::string& call, bool optional, const Formula& place) {
    const std::string variable = self.text + "_" + attribute;
    std::string type = cpp_type;
    std::string initializer = self.text + (optional ? "->" : ".") + call;
    if (cpp_type == "DimVector") initializer = "DimVector(" + initializer + ")";
    if (optional) {
      type = "std::optional<" + type + ">";
      initializer = self.text + ".has_value() && " + self.text + "->defined() ? " + type + "(" +
                    initializer + ") : std::nullopt";
    }
    save({self.text, attribute, variable, type, initializer});
    return make_name(variable, place);
  }

  std::optional<Formula> method(const Formula& call) {
    const Formula& callee = call.children[0];
    if (callee.kind != FormulaKind::kMember || !is_tensor(callee.children[0])) return std::nullopt;
    const Formula& self = callee.children[0];
    const bool optional = callee.operation == "->";
    const bool is_size = callee.text == "size" || callee.text == "sym_size";
    if (call.children.size() == 2 && is_size) return size(self, call.children[1], optional, call);
    if (call.children.size() != 1) return std::nullopt;
    if (is_size) return keep(self, "length", "int64_t", "size()", optional, call);
    const TensorMethod* known = find_tensor_method(callee.text);
    if (known == nullptr || known->kept.empty()) return std::nullopt;
    const std::string attribute(known->kept);
    return keep(self, attribute, std::string(known->kept_type), attribute + "()", optional, call);
  }

  /// `self.size(k)` where k is known in the forward pass: a literal or an argument's name.
  std::optional<Formula> size(const Formula& self, const Formula& index, bool optional,
                              const Formula& place) {
    const bool negative = index.kind == FormulaKind::kUnary && index.operation == "-";
    const Formula& core = negative ? index.children[0] : index;
    const bool literal = core.kind == FormulaKind::kLiteral;
    const bool argument = core.kind == FormulaKind::kName && is_savable(core.text);
    if (!literal && !argument) return std::nullopt;
    const std::string attribute = std::string("size_") + (negative ? "m" : "") + core.text;
    return keep(self, attribute, "int64_t", "size(" + print_formula(index) + ")", optional, place);
  }

  std::optional<Formula> function(const Formula& call) {
    if (call.children[0].kind != FormulaKind::kName || call.children.size() != 2 ||
        !is_tensor(call.children[1]))
      return std::nullopt;
    const Formula& self = call.children[1];
    const std::string name = unqualified(call.children[0].text);
    const auto whole_call = [&](const std::string& attribute, const std::string& type,
                                const std::string& text) {
      const std::string variable = self.text + "_" + attribute;
      save({self.text, attribute, variable, type, text + "(" + self.text + ")"});
      return make_name(variable, call);
    };
    for (const CallOfTensor& known : kCallsOfTensors) {
      if (known.name == name)
        return whole_call(std::string(known.kept), std::string(known.cpp_type),
                          std::string(known.function));
    }
    for (const auto& [like, fill] : kFillsLikeTensors) {
      if (name != like) continue;
      Formula filled = call;
      Formula& callee = filled.children[0];
      callee.text.replace(callee.text.size() - name.size(), name.size(), fill);
      filled.children.resize(1);
      filled.children.push_back(keep(self, "sizes", "DimVector", "sizes()", false, self));
      filled.children.push_back(keep(self, "options", "TensorOptions", "options()", false, self));
      return filled;
    }
    return std::nullopt;
  }

  const std::vector<std::string>& savable_;
  const std::set<std::string>& not_tensors_;
  std::vector<SavedValue> saved_;
};

}  // namespace

std::vector<NameUse> free_names(const Formula& formula) {
  std::vector<NameUse> uses;
  collect(formula, nullptr, uses);
  return uses;
}

std::vector<std::string> called_functions(const Formula& formula) {
  std::vector<std::string> names;
  if (formula.kind == FormulaKind::kCall && formula.children[0].kind == FormulaKind::kName) {
    names.push_back(formula.children[0].text);
  }
  for (const Formula& child : formula.children) {
    for (std::string& name : called_functions(child)) names.push_back(std::move(name));
  }
  return names;
}

std::vector<ExprError> undefined_names(const Formula& formula,
                                       const std::vector<std::string>& known,
                                       const std::vector<std::string>* known_functions) {
  std::vector<ExprError> errors;
  std::set<std::string> reported;
  const auto contains = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const NameUse& use : free_names(formula)) {
    if (contains(known, use.name) || (use.is_callee && known_functions == nullptr) ||
        (known_functions != nullptr && contains(*known_functions, use.name)))
      continue;
    if (!reported.insert(use.name).second) continue;
    if (use.is_callee) {
      errors.push_back({use.offset, use.length, "unknown function '" + use.name + "'",
                        schema::nearest(use.name, *known_functions), 0});
      continue;
    }
    const auto mistake = use.member != nullptr ? module_mistake(*use.member, known) : std::nullopt;
    errors.push_back(mistake ? *mistake : unknown_name(use.name, use.offset, known));
  }
  return errors;
}

bool uses_name(const Formula& formula, const std::string& name) {
  const std::vector<NameUse> uses = free_names(formula);
  return std::any_of(uses.begin(), uses.end(),
                     [&](const NameUse& use) { return use.name == name && !use.is_callee; });
}

SavedAnalysis analyze_saved(const Formula& formula, const std::vector<std::string>& savable,
                            const std::set<std::string>& not_tensors) {
  SavedRewriter rewriter(savable, not_tensors);
  SavedAnalysis analysis;
  analysis.rewritten = rewriter.rewrite(formula);
  analysis.saved = rewriter.take();
  return analysis;
}

}  // namespace tenon::codegen::expr
