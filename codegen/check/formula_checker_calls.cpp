// The calls that formulas make.

#include <algorithm>
#include <charconv>

#include "codegen/check/formula_checker.h"
#include "codegen/check/operations.h"
#include "codegen/expr/formulas/foreign.h"
#include "codegen/expr/formulas/tensor_methods.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen {

namespace {

using schema::BaseType;

constexpr size_t kMaxNotes = 4;

/// Methods of std::optional.
const std::vector<std::string> kOfOptionals = {"has_value", "value", "value_or"};

/// What `x.item<T>()` gives; unknown for other types and names.
ValueType of_template_method(std::string_view method) {
  static const std::map<std::string_view, BaseType> types = {{"bool", BaseType::kBool},
                                                             {"int64_t", BaseType::kInt},
                                                             {"int", BaseType::kInt},
                                                             {"float", BaseType::kFloat},
                                                             {"double", BaseType::kFloat}};
  const size_t open = method.find('<');
  const std::string_view name = method.substr(0, open);
  if ((name != "item" && name != "to") || !method.ends_with('>')) return {};
  const auto type = types.find(method.substr(open + 1, method.size() - open - 2));
  return type == types.end() ? ValueType() : ValueType(type->second);
}

}  // namespace

ValueType FormulaChecker::call(const Tree& tree) {
  const Tree& callee = tree.children[0];
  const ValueType object =
      callee.kind == FormulaKind::kMember ? value(callee.children[0]) : ValueType();
  std::vector<ValueType> arguments;
  for (size_t i = 1; i < tree.children.size(); ++i) arguments.push_back(type_of(tree.children[i]));
  if (callee.kind == FormulaKind::kMember) return method(tree, object, arguments);
  if (callee.kind == FormulaKind::kName) return function(tree, arguments);
  if (const ValueType called = value(callee); called.known())
    error(callee, "this is " + called.describe() + " and no function");
  return {};
}

ValueType FormulaChecker::function(const Tree& tree, const Types& arguments) {
  const Tree& callee = tree.children[0];
  const std::string& name = callee.text;
  if (name.starts_with("std::get<")) return get(tree, arguments);
  if (name.find('<') != std::string::npos) return {};
  const size_t colons = name.rfind("::");
  if (name == "Tensor" && arguments.empty()) return ValueType(BaseType::kTensor);
  const std::string plain = colons == std::string::npos ? name : name.substr(colons + 2);
  const auto known = functions_.find(plain);
  if (colons != std::string::npos) {
    return qualified(tree, name.substr(0, colons), plain, arguments);
  }
  if (locals_.contains(name) || derivative_.schema.find_arg(name) != nullptr) {
    error(callee, "'" + name + "' is a value, not a function");
    return {};
  }
  if (known != functions_.end()) return select(tree, plain, known->second, arguments);
  if (name == "value_or" && is_composition()) return replaced(tree, arguments);
  for (const FormulaFunction& helper : formula_functions()) {
    if (helper.name != name) continue;
    if (helper.num_arguments != arguments.size()) {
      error(callee, "`" + name + "` takes " + std::to_string(helper.num_arguments) +
                        (helper.num_arguments == 1 ? " argument" : " arguments") + ", got " +
                        std::to_string(arguments.size()));
    } else if (name == "not_implemented" && !arguments[0].is(BaseType::kStr)) {
      const std::string got = arguments[0].known() ? ", got " + arguments[0].describe() : "";
      error(callee, "`not_implemented` takes a text in quotes" + got);
    }
    return helper.gives_tensor ? ValueType(BaseType::kTensor) : ValueType();
  }
  for (const CompositionFunction& one : composition_functions()) {
    if (!is_composition() || one.name != name) continue;
    bool fits = one.arguments.size() == arguments.size();
    std::vector<ValueType> wanted;
    for (size_t i = 0; i < one.arguments.size(); ++i) {
      wanted.emplace_back(one.arguments[i]);
      fits = fits && arguments[i].converts_to(*wanted[i].type(), false);
    }
    if (!fits) {
      error(callee, "`" + name + "` takes " + describe(wanted) + ", got " + describe(arguments));
    }
    return ValueType(one.result);
  }
  if (expr::is_check(name)) {
    error(callee, "`" + name + "` stands before the result, followed by ';'");
    return {};
  }
  if (calls_.may_exist(name)) return {};
  if (calls_.is_definition(name)) {
    error(callee, "`" + name + "` is a `define`, which expressions of elements and rows call");
    return {};
  }
  std::vector<std::string> names = names_of(functions_);
  for (const FormulaFunction& helper : formula_functions()) names.push_back(helper.name);
  for (const CompositionFunction& one : composition_functions()) {
    if (is_composition()) names.push_back(one.name);
  }
  const std::string only_method =
      methods_.contains(name) ? "; `" + name + "` is a method of Tensor" : "";
  const std::string near =
      contains(std_functions(), name) ? "std::" + name : schema::nearest(name, names);
  error(callee, "unknown function '" + name + "'" + only_method, only_method.empty() ? near : "");
  return {};
}

ValueType FormulaChecker::replaced(const Tree& tree, const Types& arguments) {
  if (arguments.size() != 2 || !arguments[0].known()) return {};
  const Tree &left = tree.children[1], &right = tree.children[2];
  const ValueType &a = arguments[0], &b = arguments[1];
  if (!a.is_optional()) {
    error(left, "what stands before ?? must be an argument that may be absent");
    return a;
  }
  const ValueType type = a.element();
  const bool number = b.is_number() || b.is(BaseType::kScalar);
  if (b.is_optional()) {
    error(right, "this may be absent itself: `a ?? (b ?? c)` ends in what is not");
  } else if (b.is_braces()) {
    error(right, "a list in braces is an argument, an element of another or the result");
  } else if (!b.converts_to(*type.type(), false) && !(type.is(BaseType::kTensor) && number)) {
    error(right, "what stands for `" + text_of(left) + "` must be " + type.describe() + ", got " +
                     b.describe());
  }
  return type;
}

ValueType FormulaChecker::get(const Tree& tree, const Types& arguments) {
  const std::string& name = tree.children[0].text;
  const size_t open = name.find('<') + 1;
  size_t which = 0;
  const char* end = name.data() + name.size() - 1;
  const bool counts = std::from_chars(name.data() + open, end, which).ptr == end;
  if (!counts || arguments.size() != 1 || !arguments[0].known()) return {};
  if (!arguments[0].is_tuple()) {
    error(tree.children[0], "`" + name + "` does not take " + describe(arguments));
  } else if (which >= arguments[0].elements().size()) {
    error(tree.children[0], "`" + name + "` is out of bounds of " + arguments[0].describe());
  } else {
    return arguments[0].elements()[which];
  }
  return {};
}

ValueType FormulaChecker::qualified(const Tree& tree, const std::string& ns,
                                    const std::string& plain, const Types& arguments) {
  const Tree& callee = tree.children[0];
  const std::string outermost = ns.substr(0, ns.find("::"));
  if (outermost == "at" || outermost == "torch") {
    const expr::ExprError mistake = *expr::module_mistake(callee);
    error(callee, mistake.message, mistake.suggestion);
    return {};
  }
  if (ns == "std") return of_std(tree, plain, arguments);
  if (ns.find("::") != std::string::npos) return {};  // the compiler's
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
  if (!overloads.empty()) return select(tree, plain, overloads, arguments);
  if (calls_.may_exist(plain)) return {};
  if (names.empty() && ns != "tenon") {
    error(callee,
          "no operator has the namespace `" + ns + "`, and formulas see nothing else of it");
    return {};
  }
  error_at_name(callee, plain.size(), "`" + ns + "` has no operator `" + plain + "`",
                schema::nearest(plain, names));
  return {};
}

ValueType FormulaChecker::of_std(const Tree& tree, const std::string& plain,
                                 const Types& arguments) {
  const Tree& callee = tree.children[0];
  if (!contains(std_functions(), plain)) {
    error_at_name(callee, plain.size(), "formulas know no function `" + plain + "` of std",
                  schema::nearest(plain, std_functions()));
    return {};
  }
  std::optional<ValueType> type = std_call(plain, arguments);
  // C++ has a narrower type for literals.
  const auto is_literal = [](const Tree& argument) {
    return argument.kind == FormulaKind::kLiteral;
  };
  const size_t literals = std::count_if(tree.children.begin() + 1, tree.children.end(), is_literal);
  const bool one_type = plain == "max" || plain == "min" || plain == "clamp";
  const bool mixes = one_type && literals > 0 && literals + 1 < tree.children.size();
  if (type && mixes && type->is_integer()) {
    error(callee,
          "`std::" + plain + "` takes values of one type, which an int and a literal are not",
          "std::" + plain + "<int64_t>");
  } else if (!type) {
    const bool tensor = std::any_of(arguments.begin(), arguments.end(),
                                    [](const ValueType& one) { return one.is(BaseType::kTensor); });
    error(callee, "`std::" + plain + "` does not take " + describe(arguments),
          tensor && functions_.contains(plain) ? plain : "");
  }
  return type.value_or(ValueType());
}

ValueType FormulaChecker::method(const Tree& tree, const ValueType& object,
                                 const Types& arguments) {
  const Tree& callee = tree.children[0];
  const std::string& name = callee.text;
  if (name.find('<') != std::string::npos) return of_template_method(name);
  if (object.is_optional() && callee.operation == ".") return of_optional_itself(callee, object);
  const ValueType owner = object.is_optional() ? object.element() : object;
  if (!owner.is(BaseType::kTensor)) {
    if (owner.is_tuple() || owner.is_number() || owner.is(BaseType::kScalarType)) {
      error_at_name(callee, name.size(),
                    owner.describe() + " has no method `" + name + "`" +
                        of_several(owner, callee.children[0]));
    }
    return {};
  }
  if (callee.operation == "->" && object.is_optional() && is_composition()) {
    error_at_name(callee, name.size(),
                  "`->` reads what may be absent" + of_optional({{&callee.children[0], object}}));
  } else if (callee.operation == "->" && !object.is_optional()) {
    error_at_name(callee, name.size(), "`->` is for optional values, got a Tensor");
  }
  const auto known = methods_.find(name);
  const bool by_hand = contains(tensor_methods(), name);
  if (known != methods_.end() && !by_hand) {
    return select(tree, name, known->second, arguments);
  }
  if (by_hand) {
    check_by_hand(tree, arguments);
    return ValueType::of_method(name);
  }
  if (calls_.may_exist(name)) return {};
  std::vector<std::string> names = names_of(methods_);
  names.insert(names.end(), tensor_methods().begin(), tensor_methods().end());
  const std::string only_function =
      functions_.contains(name) ? "; `" + name + "` is a function" : "";
  error_at_name(callee, name.size(), "Tensor has no method `" + name + "`" + only_function,
                only_function.empty() ? schema::nearest(name, names) : "");
  return {};
}

void FormulaChecker::check_by_hand(const Tree& tree, const Types& arguments) {
  const std::string& name = tree.children[0].text;
  if (is_composition() && expr::find_tensor_method(name)->type.empty()) {
    error_at_name(tree.children[0], name.size(),
                  "`" + name +
                      "` has no place in a composition, which computes values and leaves "
                      "what a tensor is to others as it is");
  }
  const bool one = name == "size" || name == "stride";
  const bool none = name == "dim" || name == "numel" || name == "sizes" || name == "strides" ||
                    name == "scalar_type" || name == "device" || name == "options";
  const bool integer =
      arguments.size() == 1 && (!arguments[0].known() || arguments[0].is_integer());
  if ((one && !integer) || (none && !arguments.empty())) {
    error_at_name(tree.children[0], name.size(),
                  "`" + name + "` takes " + (one ? "an int" : "no arguments") + ", got " +
                      describe(arguments));
  }
}

ValueType FormulaChecker::of_optional_itself(const Tree& callee, const ValueType& object) {
  if (!contains(kOfOptionals, callee.text)) {
    const std::string how = is_composition() ? of_optional({{&callee.children[0], object}})
                                             : "; `->` calls those of its value";
    error_at_name(callee, callee.text.size(),
                  "`" + object.describe() + "` has no method `" + callee.text + "`" + how);
    return {};
  }
  return callee.text == "has_value" ? ValueType(BaseType::kBool) : object.element();
}

ValueType FormulaChecker::select(const Tree& tree, const std::string& name,
                                 const std::vector<Overload>& overloads, const Types& arguments) {
  std::vector<const Overload*> fitting;
  for (const Overload& overload : overloads) {
    if (takes(overload, arguments)) fitting.push_back(&overload);
  }
  if (fitting.empty()) {
    if (!report_element(tree, overloads, arguments))
      report_arguments(tree, name, overloads, arguments);
    return {};
  }
  // An argument whose type only the compiler knows decides nothing.
  const bool known = std::all_of(arguments.begin(), arguments.end(),
                                 [](const ValueType& type) { return type.known(); });
  const std::vector<const Overload*> called = known ? preferred(overloads, arguments) : fitting;
  const auto same = [&](const Overload* overload) { return overload->op == called[0]->op; };
  const auto same_library = [&](const Overload* overload) {
    return overload->op->schema.ns == called[0]->op->schema.ns;
  };
  if (known && !std::all_of(called.begin(), called.end(), same_library)) {
    const auto whole = [&](const Overload& overload) {
      const std::string& ns = overload.op->schema.ns;
      return "`" + (ns.empty() ? "tenon" : ns) + "::" + name + "`";
    };
    error_at_name(tree.children[0], name.size(),
                  "C++ cannot tell which `" + name + "` is meant: write " + whole(*called[0]) +
                      " or " + whole(*called[1]));
    return result_of(called);
  }
  if (called.empty() || !std::all_of(called.begin(), called.end(), same)) return result_of(fitting);
  const Tree& callee = tree.children[0];
  if (!takes(*called[0], arguments)) {
    error_at_name(callee, name.size(),
                  "C++ would call `" + called[0]->op->name() + "` with " + describe(arguments) +
                      ", by converting a number",
                  "", {{called[0]->op->location, schema::to_string(called[0]->form->schema)}});
    return result_of(fitting);
  }
  called_[&tree] = called[0];
  if (made_ != nullptr)
    made_->push_back({called[0]->op, callee.offset + callee.length - name.size()});
  check_written(tree, name, *called[0]);
  return result_of(known ? called : fitting);
}

bool FormulaChecker::report_element(const Tree& tree, const std::vector<Overload>& overloads,
                                    const Types& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_braces()) continue;
    std::vector<ValueType> others = arguments;
    others[i] = ValueType();
    for (const Overload& overload : overloads) {
      if (!takes(overload, others)) continue;
      const schema::Type list = overload.parameters[i].type.without_optional();
      if (!list.is_list()) continue;
      const std::vector<ValueType>& elements = arguments[i].elements();
      const auto wrong =
          std::find_if(elements.begin(), elements.end(), [&](const ValueType& element) {
            return !element.converts_to(list.element(), false);
          });
      if (wrong == elements.end()) continue;
      const Tree& place = tree.children[i + 1].children[wrong - elements.begin()];
      const bool divides = place.kind == FormulaKind::kBinary && place.operation == "/";
      error(place, "this list is of " + schema::to_string(list.element()) + ", got " +
                       wrong->describe() + (divides ? ": `/` is true division" : "") +
                       of_optional({{&place, *wrong}}));
      return true;
    }
  }
  return false;
}

void FormulaChecker::report_arguments(const Tree& tree, const std::string& name,
                                      const std::vector<Overload>& overloads,
                                      const Types& arguments) {
  std::vector<Note> notes;
  for (const Overload& overload : overloads) {
    if (notes.size() == kMaxNotes) break;
    notes.push_back({overload.op->location, schema::to_string(overload.form->schema)});
  }
  const Tree& callee = tree.children[0];
  std::string message = "`" + name + "` " +
                        (overloads.size() == 1 ? "does not take " : "has no form that takes ") +
                        describe(arguments);
  // Numbers one by one where a list is meant.
  for (size_t first = 0; first + 1 < arguments.size(); ++first) {
    const auto rest = arguments.begin() + static_cast<std::ptrdiff_t>(first);
    const auto is_integer = [](const ValueType& type) { return type.is_integer(); };
    if (!std::all_of(rest, arguments.end(), is_integer)) continue;
    std::vector<ValueType> listed(arguments.begin(), rest);
    listed.push_back(ValueType::list({rest, arguments.end()}));
    const auto fits = [&](const Overload& overload) { return takes(overload, listed); };
    if (!std::any_of(overloads.begin(), overloads.end(), fits)) continue;
    const size_t begin = tree.children[first + 1].offset;
    const size_t end = tree.children.back().offset + tree.children.back().length;
    report(begin, end, std::move(message),
           "{" + formula_.text.text.substr(begin, end - begin) + "}", std::move(notes));
    return;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_optional()) continue;
    message += of_optional({{&tree.children[i + 1], arguments[i]}});
    break;
  }
  const auto is_number = [](const ValueType& type) { return type.is_number(); };
  const bool numbers = callee.kind == FormulaKind::kName && !arguments.empty() &&
                       std::all_of(arguments.begin(), arguments.end(), is_number);
  error_at_name(callee, name.size(), std::move(message),
                numbers && contains(std_functions(), name) ? "std::" + name : "", std::move(notes));
}

}  // namespace tenon::codegen
