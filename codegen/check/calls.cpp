#include "codegen/check/calls.h"

#include <algorithm>
#include <map>

#include "codegen/check/value_type.h"
#include "codegen/expr/foreign.h"
#include "codegen/model/cpp_types.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen {

namespace {

using expr::FormulaKind;
using schema::BaseType;
using Overload = CallChecker::Overload;
using Overloads = std::unordered_map<std::string, std::vector<Overload>>;
using Tree = expr::Formula;

constexpr size_t kMaxNotes = 4;

Overload overload_of(const Operator& op, const VariantSchema& form, bool method) {
  Overload overload{&op, &form, {}};
  const schema::FunctionSchema& schema = form.schema;
  const std::optional<size_t> options = schema.tensor_options();
  const auto is_out = [](const schema::Argument& arg) {
    return arg.kwarg_only && arg.is_mutable();
  };
  for (const schema::Argument& arg : schema.args) {
    if (is_out(arg)) overload.parameters.push_back({arg.type, false, false});
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const schema::Argument& arg = schema.args[i];
    if (is_out(arg) || (method && &arg == schema.self())) continue;
    const bool folded = options && i >= *options && i < *options + 4;
    if (folded && i > *options) continue;
    const bool required =
        std::any_of(op.cpp_no_default_args.begin(), op.cpp_no_default_args.end(),
                    [&](const LocatedName& name) { return name.text == arg.name; });
    overload.parameters.push_back({arg.type, folded, arg.default_value.has_value() && !required});
  }
  return overload;
}

bool takes(const Overload& overload, const std::vector<ValueType>& arguments) {
  const auto& parameters = overload.parameters;
  if (arguments.size() > parameters.size()) return false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i >= arguments.size()) {
      if (!parameters[i].has_default) return false;
    } else if (!arguments[i].converts_to(parameters[i].type, parameters[i].is_options)) {
      return false;
    }
  }
  return true;
}

/// How C++ converts each argument; nothing where the overload does not take them.
std::optional<std::vector<ValueType::Conversion>>
conversions(const Overload& overload, const std::vector<ValueType>& arguments) {
  const auto& parameters = overload.parameters;
  if (arguments.size() > parameters.size()) return std::nullopt;
  std::vector<ValueType::Conversion> all;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i >= arguments.size()) {
      if (!parameters[i].has_default) return std::nullopt;
      continue;
    }
    const auto one = arguments[i].conversion_to(parameters[i].type, parameters[i].is_options);
    if (!one) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

/// Whether C++ prefers `a`: no argument converts worse, and one better.
bool beats(const std::vector<ValueType::Conversion>& a,
           const std::vector<ValueType::Conversion>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return a != b;
}

/// Those of the overloads that C++ prefers to all others.
std::vector<const Overload*> preferred(const std::vector<Overload>& overloads,
                                       const std::vector<ValueType>& arguments) {
  std::vector<std::pair<const Overload*, std::vector<ValueType::Conversion>>> all;
  for (const Overload& overload : overloads) {
    if (auto how = conversions(overload, arguments)) all.emplace_back(&overload, std::move(*how));
  }
  std::vector<const Overload*> best;
  for (const auto& [overload, how] : all) {
    const bool beaten = std::any_of(all.begin(), all.end(), [&how = how](const auto& other) {
      return beats(other.second, how);
    });
    if (!beaten) best.push_back(overload);
  }
  return best;
}

// What a call gives, where all overloads that take the arguments agree.
ValueType result_of(const std::vector<const Overload*>& overloads) {
  std::optional<schema::Type> type;
  for (const Overload* overload : overloads) {
    const std::vector<schema::Return>& returns = overload->form->schema.returns;
    if (returns.size() != 1 || (type && *type != returns[0].type)) return {};
    type = returns[0].type;
  }
  return type ? ValueType(*type) : ValueType();
}

std::string types_text(const std::vector<ValueType>& types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i) text += (i > 0 ? ", " : "") + types[i].describe();
  return text + ")";
}

std::vector<std::string> names_of(const Overloads& overloads) {
  std::vector<std::string> names;
  for (const auto& [name, some] : overloads) names.push_back(name);
  // The first of several equally near names is suggested: not one by chance.
  std::sort(names.begin(), names.end());
  return names;
}

/// Members of Python's tensors, and the methods that are meant.
constexpr schema::ForeignWord kProperties[] = {
    {"shape", "sizes()"},       {"T", "t()"},          {"mT", "mT()"}, {"ndim", "dim()"},
    {"dtype", "scalar_type()"}, {"device", "device()"}};

/// Methods of std::optional.
const std::vector<std::string> kOfOptionals = {"has_value", "value", "value_or"};

// Walks one formula, finds the types of its parts, and reports calls that cannot be.
class FormulaChecker {
 public:
  FormulaChecker(const CallChecker& calls, const Overloads& functions, const Overloads& methods,
                 const Derivative& derivative, const Formula& formula, DiagnosticSink& sink,
                 std::vector<CallChecker::Call>* made = nullptr)
      : calls_(calls), functions_(functions), methods_(methods), derivative_(derivative),
        formula_(formula), sink_(sink), made_(made) {}

  /// The calls, and that a gradient or tangent is a tensor, of a list of tensors a list.
  void check(const Tree& tree) {
    const ValueType type = type_of(tree);
    if (formula_.kind == codegen::FormulaKind::kNotImplemented) return;
    if (formula_.names.size() != 1) {
      if (!type.known()) return;
      error(tree, 0,
            "a formula for " + std::to_string(formula_.names.size()) +
                " names must give a tuple of as many, got " + type.describe());
      return;
    }
    const std::vector<schema::Return>& returns = derivative_.schema.returns;
    // Calls are kept of a composition, which gives what its schema says.
    schema::Type wanted =
        made_ != nullptr && returns.size() == 1 ? returns[0].type : schema::Type();
    const schema::Argument* arg = derivative_.schema.find_arg(formula_.names[0].text);
    if (arg != nullptr && arg->type.is_tensor_list()) wanted = arg->type;
    if (type.converts_to(wanted, false)) return;
    error(tree, 0, "this must give a " + schema::to_string(wanted) + ", got " + type.describe());
  }

  ValueType type_of(const Tree& tree) {
    switch (tree.kind) {
    case FormulaKind::kName: return name(tree.text);
    case FormulaKind::kLiteral: return ValueType::of_literal(tree.text);
    case FormulaKind::kCall: return call(tree);
    case FormulaKind::kIndex: return index(tree);
    case FormulaKind::kUnary: return unary(tree);
    case FormulaKind::kBinary: return binary(tree);
    case FormulaKind::kMember: return member(tree);
    case FormulaKind::kTernary: {
      if (type_of(tree.children[0]).is(BaseType::kTensor)) {
        error(tree.children[0], 0, "a condition must be a bool, got Tensor");
      }
      const ValueType a = type_of(tree.children[1]), b = type_of(tree.children[2]);
      return a == b ? a : ValueType();
    }
    case FormulaKind::kParentheses: return type_of(tree.children[0]);
    case FormulaKind::kLocal:
      locals_[tree.text] = type_of(tree.children[0]);
      return type_of(tree.children[1]);
    case FormulaKind::kBraces:
      for (const Tree& child : tree.children) type_of(child);
      return ValueType::list();
    default: return {};  // members, lambdas and types: the compiler's
    }
  }

 private:
  void error(const Tree& place, size_t offset, std::string message, std::string suggestion = {},
             std::vector<Note> notes = {}) {
    sink_.report({Severity::kError, formula_.text.at(place.offset + offset), std::move(message),
                  std::move(notes), std::move(suggestion),
                  formula_.text.at(place.offset + place.length)});
  }

  ValueType name(const std::string& text) const {
    if (const auto local = locals_.find(text); local != locals_.end()) return local->second;
    const schema::FunctionSchema& schema = derivative_.schema;
    if (const schema::Argument* arg = schema.find_arg(text)) return ValueType(arg->type);
    // Value and tangent in a forward formula.
    if (text.ends_with("_p") || text.ends_with("_t")) {
      const schema::Argument* arg = schema.find_arg(text.substr(0, text.size() - 2));
      if (arg != nullptr && arg->type.is_tensor()) return ValueType(arg->type);
    }
    if (text == "grad" || text.starts_with("grad_")) {
      return text == "grad_input_mask" ? ValueType() : ValueType(BaseType::kTensor);
    }
    for (size_t i = 0; i < schema.returns.size(); ++i) {
      if (text == schema.return_name(i) || text == "result" + std::to_string(i)) {
        return ValueType(schema.returns[i].type);
      }
    }
    if (text.starts_with("k")) return ValueType(BaseType::kScalarType);
    if (text.starts_with("M_")) return ValueType(BaseType::kFloat);
    return {};
  }

  ValueType index(const Tree& tree) {
    type_of(tree.children[1]);
    const bool gradient =
        tree.children[0].kind == FormulaKind::kName && tree.children[0].text == "grads";
    if (!gradient) type_of(tree.children[0]);
    return gradient ? ValueType(BaseType::kTensor) : ValueType();
  }

  // One that is not called.
  ValueType member(const Tree& tree) {
    if (type_of(tree.children[0]).is(BaseType::kTensor)) {
      error(tree, tree.length - tree.text.size(),
            "`" + tree.text + "` is not called: formulas see no other members of a Tensor",
            schema::suggest(tree.text, {}, kProperties));
    }
    return {};
  }

  ValueType unary(const Tree& tree) {
    const ValueType type = type_of(tree.children[0]);
    const bool of_numbers = tree.operation == "-" || tree.operation == "+" || tree.operation == "~";
    if (type.is(BaseType::kTensor) && !of_numbers) {
      error(tree, 0, "`" + tree.operation + "` does not take a Tensor");
    }
    return tree.operation == "-" || tree.operation == "+" ? type : ValueType();
  }

  ValueType binary(const Tree& tree) {
    const ValueType a = type_of(tree.children[0]), b = type_of(tree.children[1]);
    if (tree.operation == "&&" || tree.operation == "||") return ValueType(BaseType::kBool);
    if (a.is(BaseType::kTensor) || b.is(BaseType::kTensor)) {
      if (!is_operand(a) || !is_operand(b)) {
        error(tree, 0, "`" + tree.operation + "` does not take " + types_text({a, b}));
      }
      return ValueType(BaseType::kTensor);
    }
    const auto number = [](const ValueType& type) {
      return type.is(BaseType::kInt) || type.is(BaseType::kSymInt) || type.is(BaseType::kFloat);
    };
    if (tree.operation == "/" && number(a) && number(b)) return ValueType(BaseType::kFloat);
    const bool compares = tree.operation[0] == '<' || tree.operation[0] == '>' ||
                          tree.operation == "==" || tree.operation == "!=";
    if (a.known() && b.known() && compares) return ValueType(BaseType::kBool);
    return a == b ? a : ValueType();
  }

  ValueType call(const Tree& tree) {
    std::vector<ValueType> arguments;
    const Tree& callee = tree.children[0];
    const ValueType object =
        callee.kind == FormulaKind::kMember ? type_of(callee.children[0]) : ValueType();
    for (size_t i = 1; i < tree.children.size(); ++i)
      arguments.push_back(type_of(tree.children[i]));
    if (callee.kind == FormulaKind::kMember) return method(callee, object, arguments);
    if (callee.kind == FormulaKind::kName) return function(callee, arguments);
    return {};
  }

  ValueType function(const Tree& callee, const std::vector<ValueType>& arguments) {
    const std::string& name = callee.text;
    if (name.find('<') != std::string::npos) return {};
    const size_t colons = name.rfind("::");
    if (name == "Tensor" && arguments.empty()) return ValueType(BaseType::kTensor);
    const std::string plain = colons == std::string::npos ? name : name.substr(colons + 2);
    const auto known = functions_.find(plain);
    if (colons != std::string::npos) {
      return qualified(callee, name.substr(0, colons), plain, arguments);
    }
    if (known != functions_.end()) return select(callee, 0, plain, known->second, arguments);
    if (name == "value_or") return {};  // `a ?? b`, of what type the compiler knows
    for (const FormulaFunction& helper : formula_functions()) {
      if (helper.name != name) continue;
      if (helper.num_arguments != arguments.size()) {
        error(callee, 0,
              "`" + name + "` takes " + std::to_string(helper.num_arguments) +
                  (helper.num_arguments == 1 ? " argument" : " arguments") + ", got " +
                  std::to_string(arguments.size()));
      } else if (name == "not_implemented" && !arguments[0].is(BaseType::kStr)) {
        const std::string got = arguments[0].known() ? ", got " + arguments[0].describe() : "";
        error(callee, 0, "`not_implemented` takes a text in quotes" + got);
      }
      return helper.gives_tensor ? ValueType(BaseType::kTensor) : ValueType();
    }
    if (locals_.contains(name) || derivative_.schema.find_arg(name) != nullptr) {
      error(callee, 0, "'" + name + "' is a value, not a function");
      return {};
    }
    if (calls_.may_exist(name)) return {};
    std::vector<std::string> names = names_of(functions_);
    for (const FormulaFunction& helper : formula_functions()) names.push_back(helper.name);
    const std::string only_method =
        methods_.contains(name) ? "; `" + name + "` is a method of Tensor" : "";
    error(callee, 0, "unknown function '" + name + "'" + only_method,
          only_method.empty() ? schema::nearest(name, names) : "");
    return {};
  }

  // Generated sources include no header but Tenon's and the standard library's.
  ValueType qualified(const Tree& callee, const std::string& ns, const std::string& plain,
                      const std::vector<ValueType>& arguments) {
    if (ns == "at" || ns == "torch") {
      const expr::ExprError mistake = *expr::module_mistake(callee);
      error(callee, 0, mistake.message, mistake.suggestion);
      return {};
    }
    if (ns == "std" || ns.find("::") != std::string::npos) return {};  // the compiler's
    std::vector<Overload> overloads;
    std::vector<std::string> names;
    for (const auto& [name, all] : functions_) {
      for (const Overload& overload : all) {
        if (cpp_namespace(overload.op->schema) != ns) continue;
        names.push_back(name);
        if (name == plain) overloads.push_back(overload);
      }
    }
    std::sort(names.begin(), names.end());
    if (!overloads.empty()) return select(callee, ns.size() + 2, plain, overloads, arguments);
    if (calls_.may_exist(plain)) return {};
    if (names.empty() && ns != "tenon") {
      error(callee, 0,
            "no operator has the namespace `" + ns + "`, and formulas see nothing else of it");
      return {};
    }
    error(callee, ns.size() + 2, "`" + ns + "` has no operator `" + plain + "`",
          schema::nearest(plain, names));
    return {};
  }

  // C++ computes with it and a Tensor.
  static bool is_operand(const ValueType& type) {
    if (!type.known()) return true;
    for (const BaseType base :
         {BaseType::kTensor, BaseType::kScalar, BaseType::kInt, BaseType::kSymInt, BaseType::kFloat,
          BaseType::kBool, BaseType::kSymBool}) {
      if (type.is(base)) return true;
    }
    return false;
  }

  ValueType method(const Tree& callee, const ValueType& object,
                   const std::vector<ValueType>& arguments) {
    if (callee.text.find('<') != std::string::npos) return {};
    const size_t offset = callee.length - callee.text.size();
    if (object.is_optional() && callee.operation == "." && !contains(kOfOptionals, callee.text)) {
      error(callee, offset,
            "`" + object.describe() + "` has no method `" + callee.text +
                "`; `->` calls those of its value");
      return {};
    }
    if (!object.is(BaseType::kTensor)) return {};
    if (callee.operation == "->") {
      error(callee, offset, "`->` is for optional values, got a Tensor");
    }
    const auto known = methods_.find(callee.text);
    const bool by_hand = contains(tensor_methods(), callee.text);
    if (known != methods_.end() && !by_hand) {
      return select(callee, offset, callee.text, known->second, arguments);
    }
    if (by_hand) return ValueType::of_method(callee.text);
    if (calls_.may_exist(callee.text)) return {};
    std::vector<std::string> names = names_of(methods_);
    names.insert(names.end(), tensor_methods().begin(), tensor_methods().end());
    const std::string only_function =
        functions_.contains(callee.text) ? "; `" + callee.text + "` is a function" : "";
    error(callee, offset, "Tensor has no method `" + callee.text + "`" + only_function,
          only_function.empty() ? schema::nearest(callee.text, names) : "");
    return {};
  }

  ValueType select(const Tree& callee, size_t offset, const std::string& name,
                   const std::vector<Overload>& overloads,
                   const std::vector<ValueType>& arguments) {
    std::vector<const Overload*> fitting;
    for (const Overload& overload : overloads) {
      if (takes(overload, arguments)) fitting.push_back(&overload);
    }
    if (fitting.empty()) {
      std::vector<Note> notes;
      for (const Overload& overload : overloads) {
        if (notes.size() == kMaxNotes) break;
        notes.push_back({overload.op->location, schema::to_string(overload.form->schema)});
      }
      const std::string forms =
          overloads.size() == 1 ? "does not take " : "has no form that takes ";
      error(callee, offset, "`" + name + "` " + forms + types_text(arguments), "",
            std::move(notes));
    }
    if (fitting.empty()) return {};
    // An argument whose type only the compiler knows decides nothing.
    const bool known = std::all_of(arguments.begin(), arguments.end(),
                                   [](const ValueType& type) { return type.known(); });
    const std::vector<const Overload*> called = known ? preferred(overloads, arguments) : fitting;
    const auto same = [&](const Overload* overload) { return overload->op == called[0]->op; };
    if (called.empty() || !std::all_of(called.begin(), called.end(), same))
      return result_of(fitting);
    if (!takes(*called[0], arguments)) {
      error(callee, offset,
            "C++ would call `" + called[0]->op->name() + "` with " + types_text(arguments) +
                ", by converting a number",
            "", {{called[0]->op->location, schema::to_string(called[0]->form->schema)}});
    } else if (made_ != nullptr) {
      made_->push_back({called[0]->op, callee.offset + offset});
    }
    return result_of(fitting);
  }

  const CallChecker& calls_;
  const Overloads& functions_;
  const Overloads& methods_;
  const Derivative& derivative_;
  const Formula& formula_;
  DiagnosticSink& sink_;
  std::vector<CallChecker::Call>* made_;
  std::map<std::string, ValueType> locals_;
};

}  // namespace

const std::vector<FormulaFunction>& formula_functions() {
  static const std::vector<FormulaFunction> functions = {
      {"cat_tensors_backward", 3, false}, {"maybe_multiply", 2, true},
      {"not_implemented", 1, true},       {"of_channels", 2, true},
      {"split_backward", 5, true},        {"split_with_sizes_backward", 5, true},
      {"to_args_sizes", 1, false},        {"unbind_backward", 4, true},
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

void CallChecker::add(const Model& model) {
  for (size_t i = 0; i < model.operators().size(); ++i) {
    const Operator& op = model.operators()[i];
    for (const VariantSchema& form : model.variants(i)) {
      const std::string& name = form.schema.name;
      if (form.function) functions_[name].push_back(overload_of(op, form, false));
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
