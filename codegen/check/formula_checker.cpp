#include "codegen/check/formula_checker.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "codegen/check/operations.h"
#include "codegen/expr/graph/constants.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen {

namespace {

using schema::BaseType;

/// Members of Python's tensors, and the methods that are meant.
constexpr schema::ForeignWord kProperties[] = {
    {"shape", "sizes()"},       {"T", "t()"},          {"mT", "mT()"}, {"ndim", "dim()"},
    {"dtype", "scalar_type()"}, {"device", "device()"}};

}  // namespace

void FormulaChecker::check(const Tree& tree) {
  const size_t before = sink_.num_errors();
  const ValueType type = type_of(tree);
  const Tree* result = &tree;
  while (expr::has_rest(*result)) result = &result->children[1];
  if (is_composition() && derivative_.schema.has_mutable_arg() && sink_.num_errors() == before)
    check_writes(*result);
  if (formula_.kind == codegen::FormulaKind::kNotImplemented || formula_.names.empty()) return;
  if (formula_.names.size() == 1) {
    const schema::Type wanted = wanted_of(0);
    if (is_composition() && type.type() != nullptr && type.type()->is_tensor_list() &&
        wanted.is_tensor_list() && is_borrowed(*result))
      error(*result, "this is the caller's list, and the result one of its own");
    if (type.converts_to(wanted, false)) return;
    const bool of_several = type.is_tuple() && !type.elements().empty() &&
                            type.elements()[0].converts_to(wanted, false);
    error(*result, "this must give a " + schema::to_string(wanted) + ", got " + type.describe(),
          of_several ? "std::get<0>(" + text_of(*result) + ")" : "");
  } else if (type.known() && !gives_all(type)) {
    report_several(*result, type);
  }
}

ValueType FormulaChecker::type_of(const Tree& tree) {
  switch (tree.kind) {
  case FormulaKind::kName: return name(tree.text);
  case FormulaKind::kLiteral: return literal(tree);
  case FormulaKind::kCall: return call(tree);
  case FormulaKind::kIndex: return index(tree);
  case FormulaKind::kUnary: return unary(tree);
  case FormulaKind::kBinary: return binary(tree);
  case FormulaKind::kMember: return member(tree);
  case FormulaKind::kTernary: return choice(tree);
  case FormulaKind::kParentheses: return value(tree.children[0]);
  case FormulaKind::kLocal: {
    const ValueType type = value(tree.children[0]);
    if (type.is_tuple() && type.elements().empty())
      error(tree.children[0], "this gives nothing, so that no name can stand for it");
    check_outlived(tree.children[0]);
    locals_[tree.text] = {type, owner(tree.children[0]), is_borrowed(tree.children[0])};
    return type_of(tree.children[1]);
  }
  case FormulaKind::kRepeat:
    error(tree.children[0], "a loop is of `pointwise` expressions, no tensor code");
    return type_of(tree.children[1]);
  case FormulaKind::kCheck: refusal(tree.children[0]); return type_of(tree.children[1]);
  case FormulaKind::kBraces: {
    std::vector<ValueType> elements;
    for (const Tree& child : tree.children) elements.push_back(type_of(child));
    return ValueType::list(std::move(elements));
  }
  case FormulaKind::kTypedBraces:
    for (size_t i = 1; i < tree.children.size(); ++i) type_of(tree.children[i]);
    return {};
  default: return {};  // lambdas: the compiler's
  }
}

std::string FormulaChecker::text_of(const Tree& tree) const {
  return formula_.text.text.substr(tree.offset, tree.length);
}

void FormulaChecker::report(size_t begin, size_t end, std::string message, std::string suggestion,
                            std::vector<Note> notes) {
  sink_.report({Severity::kError, formula_.text.at(begin), std::move(message), std::move(notes),
                std::move(suggestion), formula_.text.at(end)});
}

void FormulaChecker::error(const Tree& place, std::string message, std::string suggestion) {
  report(place.offset, place.offset + place.length, std::move(message), std::move(suggestion));
}

void FormulaChecker::error_at_name(const Tree& named, size_t length, std::string message,
                                   std::string suggestion, std::vector<Note> notes) {
  const size_t end = named.offset + named.length;
  report(end - length, end, std::move(message), std::move(suggestion), std::move(notes));
}

void FormulaChecker::error_at_operation(const Tree& tree, std::string message) {
  report(tree.operation_offset, tree.operation_offset + std::max<size_t>(1, tree.operation.size()),
         std::move(message));
}

schema::Type FormulaChecker::wanted_of(size_t i) const {
  if (is_composition()) return derivative_.schema.returns[i].type;
  const schema::Argument* arg = derivative_.schema.find_arg(formula_.names[i].text);
  return arg != nullptr && arg->type.is_tensor_list() ? arg->type : schema::Type();
}

bool FormulaChecker::gives_all(const ValueType& type) const {
  if (!type.is_tuple() || type.elements().size() != formula_.names.size()) return false;
  for (size_t i = 0; i < formula_.names.size(); ++i) {
    if (!type.elements()[i].converts_to(wanted_of(i), false)) return false;
  }
  return true;
}

void FormulaChecker::report_several(const Tree& result, const ValueType& type) {
  const size_t count = formula_.names.size();
  if (!is_composition()) {
    error(result, "a formula for " + std::to_string(count) +
                      " names must give a tuple of as many, got " + type.describe());
    return;
  }
  std::vector<ValueType> wanted;
  for (size_t i = 0; i < count; ++i) wanted.emplace_back(wanted_of(i));
  const bool listed = type.is_braces() && type.elements().size() == count;
  const std::string text = text_of(result);
  error(result,
        "this must give " + describe(wanted) + ", got " + type.describe() +
            "; `std::make_tuple(a, b)` makes one of several",
        listed ? "std::make_tuple(" + text.substr(1, text.size() - 2) + ")" : "");
}

ValueType FormulaChecker::value(const Tree& tree) {
  const ValueType type = type_of(tree);
  if (!type.is_braces()) return type;
  error(tree, "a list in braces is an argument, an element of another or the result");
  return {};
}

ValueType FormulaChecker::name(const std::string& text) const {
  if (const auto local = locals_.find(text); local != locals_.end()) return local->second.type;
  const schema::FunctionSchema& schema = derivative_.schema;
  // Of a formula the gradient; that an argument has its name is for derivative_shadowed.
  if (text == "grad" && !is_composition()) return ValueType(BaseType::kTensor);
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
  if (text.size() > 1 && text[0] == 'k' && std::isupper(static_cast<unsigned char>(text[1])) != 0)
    return ValueType(BaseType::kScalarType);
  const bool constant = is_composition() && expr::find_named_constant(text) != nullptr;
  if (constant || text.starts_with("M_")) return ValueType(BaseType::kFloat);
  return {};
}

ValueType FormulaChecker::literal(const Tree& tree) {
  const std::string& text = tree.text;
  const ValueType type = ValueType::of_literal(text);
  if (text.starts_with('\'')) {
    error(tree, "a text needs double quotes", "\"" + text.substr(1, text.size() - 2) + "\"");
  } else if (type.is_integer()) {
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const size_t digits = std::min(text.find_first_not_of('0'), text.size() - 1);
    if (std::from_chars(text.data(), end, number).ec == std::errc::result_out_of_range) {
      error(tree, "'" + text + "' is too large for an int", text + ".0");
    } else if (digits > 0) {
      error(tree, "'" + text + "' would be octal in C++", text.substr(digits));
    }
  }
  return type;
}

ValueType FormulaChecker::index(const Tree& tree) {
  const Tree& list = tree.children[0];
  const bool gradient = list.kind == FormulaKind::kName && list.text == "grads";
  const ValueType object = gradient ? ValueType() : value(list);
  const ValueType position = value(tree.children[1]);
  if (gradient) return ValueType(BaseType::kTensor);
  if (!object.known()) return {};
  const bool tensor = object.is(BaseType::kTensor);
  const bool list_type =
      object.type() != nullptr && object.type()->is_list() && !object.is_optional();
  if (!tensor && !list_type) {
    error_at_operation(tree, "`[]` does not take " + object.describe() + of_several(object, list));
  } else if (position.known() && !position.is_integer()) {
    error(tree.children[1],
          "`[]` of " + object.describe() + " takes an int, got " + position.describe());
  }
  return tensor ? object : object.element();
}

std::string FormulaChecker::of_several(const ValueType& type, const Tree& tree) const {
  if (!type.is_tuple() || type.elements().empty()) return {};
  return "; `std::get<0>(" + text_of(tree) + ")` is its first";
}

ValueType FormulaChecker::member(const Tree& tree) {
  const ValueType object = value(tree.children[0]);
  if (object.is(BaseType::kTensor)) {
    error_at_name(tree, tree.text.size(),
                  "`" + tree.text + "` is not called: formulas see no other members of a Tensor",
                  schema::suggest(tree.text, {}, kProperties));
  } else if (object.known()) {
    error_at_name(tree, tree.text.size(),
                  object.describe() + " has no member `" + tree.text + "`" +
                      of_several(object, tree.children[0]));
  }
  return {};
}

std::string FormulaChecker::of_optional(
    std::initializer_list<std::pair<const Tree*, ValueType>> operands) const {
  for (const auto& [tree, type] : operands) {
    if (!type.is_optional() || !is_composition()) continue;
    const std::string x = text_of(*tree);
    return ": test it, `" + x + " ? a : b`, or replace it, `" + x + " ?? b`";
  }
  return {};
}

void FormulaChecker::condition(const Tree& tree, const ValueType& type,
                               const std::string& of_elements, const Tree& place) {
  if (type.is_optional() && type.element().is(BaseType::kBool)) {
    error(tree, "this asks whether a `bool?` is there, not for its value",
          is_composition() ? "(" + text_of(tree) + " ?? false)" : "");
  } else if (type.is(BaseType::kTensor)) {
    // The expression of elements takes the place of the whole.
    report(tree.offset, place.offset + place.length, "a condition must be a bool, got Tensor",
           of_elements);
  } else if (!is_condition(type)) {
    error(tree, "a condition must be a bool, got " + type.describe());
  }
}

ValueType FormulaChecker::choice(const Tree& tree) {
  const Tree &test = tree.children[0], &yes = tree.children[1], &no = tree.children[2];
  const ValueType tested = value(test);
  const ValueType a = value(yes), b = value(no);
  condition(test, tested, "where(" + text_of(test) + ", " + text_of(yes) + ", " + text_of(no) + ")",
            tree);
  // Of elements, sides that C++ finds no type for are no second mistake.
  if (tested.is(BaseType::kTensor)) return tested;
  const std::optional<ValueType> type = choice_type(a, b);
  if (type && type->type() != nullptr && type->type()->is_tensor_list() &&
      is_borrowed(yes) != is_borrowed(no))
    error_at_operation(tree, "one side is the caller's list, the other one of its own");
  if (!type) error_at_operation(tree, "the sides are " + a.describe() + " and " + b.describe());
  return type.value_or(ValueType());
}

void FormulaChecker::refusal(const Tree& call) {
  const std::string& name = call.children[0].text;
  if (!is_composition()) {
    error(call, "only compositions have `" + name + "`");
    return;
  }
  if (call.children.size() < 3) {
    error(call, "`" + name + "` takes what must hold, and what is said where it does not");
    return;
  }
  condition(call.children[1], value(call.children[1]), "", call.children[1]);
  for (size_t i = 2; i < call.children.size(); ++i) {
    const ValueType shown = value(call.children[i]);
    if (shown.is(BaseType::kTensor) || shown.is_tuple() || shown.is_optional())
      error(call.children[i], "a message does not show " + shown.describe());
  }
}

ValueType FormulaChecker::unary(const Tree& tree) {
  const Tree& operand = tree.children[0];
  const ValueType type = value(operand);
  const bool negates = tree.operation == "!";
  // Where a test says that the value is there, its name stands for it.
  const bool written = tree.offset != operand.offset;
  if (tree.operation == "*" && written && type.is_optional() && is_composition())
    error(tree, "`*` reads what may be absent" + of_optional({{&operand, type}}));
  std::optional<ValueType> result = unary_type(tree.operation, type);
  if (type.is(BaseType::kTensor) && (negates || !result)) {
    error(tree, "`" + tree.operation + "` does not take a Tensor",
          negates ? "logical_not(" + text_of(operand) + ")" : "");
    return type;
  }
  if (negates) condition(operand, type, "", operand);
  if (!result) {
    error(tree, "`" + tree.operation + "` does not take " + type.describe() +
                    of_optional({{&operand, type}}));
  }
  return result.value_or(ValueType());
}

ValueType FormulaChecker::binary(const Tree& tree) {
  const Tree &left = tree.children[0], &right = tree.children[1];
  const ValueType a = value(left), b = value(right);
  const std::string& operation = tree.operation;
  const bool tensor = a.is(BaseType::kTensor) || b.is(BaseType::kTensor);
  const bool logic = operation == "&&" || operation == "||";
  if (operation == "??") {
    error_at_operation(tree, "only compositions have `??`");
    return {};
  }
  if (logic && tensor) {
    error(tree, "`" + operation + "` does not take " + describe({a, b}),
          std::string(operation == "&&" ? "logical_and" : "logical_or") + "(" + text_of(left) +
              ", " + text_of(right) + ")");
  } else if (logic) {
    condition(left, a, "", left);
    condition(right, b, "", right);
  }
  const std::optional<ValueType> result = binary_type(operation, a, b);
  if (!result) {
    error_at_operation(tree, "`" + operation + "` does not take " + describe({a, b}) +
                                 of_optional({{&left, a}, {&right, b}}));
  }
  // A mistake beside a Tensor hides none that comes after it.
  return tensor ? ValueType(BaseType::kTensor) : result.value_or(ValueType());
}

}  // namespace tenon::codegen
