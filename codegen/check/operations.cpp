#include "codegen/check/operations.h"

#include <algorithm>
#include <map>

namespace tenon::codegen {

namespace {

using schema::BaseType;

bool compares(std::string_view operation) {
  return operation == "==" || operation == "!=" || operation == "<" || operation == "<=" ||
         operation == ">" || operation == ">=";
}

// C++ computes with it and a Tensor.
bool is_operand(const ValueType& type) {
  return !type.known() || type.is(BaseType::kTensor) || type.is(BaseType::kScalar) ||
         type.is(BaseType::kSymBool) || type.is_number();
}

// What C++ makes of two numbers before it computes.
ValueType common_number(const ValueType& a, const ValueType& b) {
  const bool real = a.is(BaseType::kFloat) || b.is(BaseType::kFloat);
  return ValueType(real ? BaseType::kFloat : BaseType::kInt);
}

// A list, and whether it is of another length than `b` makes no difference.
bool same_lists(const schema::Type& a, const schema::Type& b) {
  return a.is_list() && b.is_list() && a.is_optional() == b.is_optional() && a.base == b.base &&
         a.suffixes.size() == b.suffixes.size();
}

enum class StdKind : uint8_t { kReal, kSame, kTest, kTuple, kUnknown };
struct StdFunction {
  StdKind kind;
  size_t arity;
};

const std::map<std::string, StdFunction, std::less<>>& std_table() {
  static const std::map<std::string, StdFunction, std::less<>> table = [] {
    std::map<std::string, StdFunction, std::less<>> all;
    for (const char* name :
         {"acos",  "acosh", "asin", "asinh", "atan",  "atanh", "cbrt",   "ceil",  "cos",   "cosh",
          "erf",   "erfc",  "exp",  "exp2",  "expm1", "floor", "log",    "log10", "log1p", "log2",
          "round", "sin",   "sinh", "sqrt",  "tan",   "tanh",  "tgamma", "trunc", "lgamma"}) {
      all[name] = {StdKind::kReal, 1};
    }
    for (const char* name :
         {"atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "pow", "remainder"}) {
      all[name] = {StdKind::kReal, 2};
    }
    for (const char* name : {"isfinite", "isinf", "isnan", "signbit"}) {
      all[name] = {StdKind::kTest, 1};
    }
    all["abs"] = {StdKind::kSame, 1};
    for (const char* name : {"gcd", "lcm", "max", "min"}) all[name] = {StdKind::kSame, 2};
    all["clamp"] = {StdKind::kSame, 3};
    all["make_tuple"] = {StdKind::kTuple, 0};
    for (const char* name : {"accumulate", "forward_as_tuple", "get", "move", "tie", "tuple_cat"}) {
      all[name] = {StdKind::kUnknown, 0};
    }
    return all;
  }();
  return table;
}

}  // namespace

std::optional<ValueType> unary_type(std::string_view operation, const ValueType& a) {
  if (operation == "!") return ValueType(BaseType::kBool);
  if (!a.known()) return ValueType();
  if (operation == "*") return a.is_optional() ? std::optional(a.element()) : std::nullopt;
  if (a.is(BaseType::kTensor)) return operation != "+" ? std::optional(a) : std::nullopt;
  if (operation == "-" && a.is(BaseType::kScalar)) return a;
  if (operation == "~") return a.is_integer() ? std::optional(a) : std::nullopt;
  return a.is_number() ? std::optional(common_number(a, a)) : std::nullopt;
}

std::optional<ValueType> binary_type(std::string_view operation, const ValueType& a,
                                     const ValueType& b) {
  if (operation == "&&" || operation == "||") return ValueType(BaseType::kBool);
  const bool shifts = operation == "<<" || operation == ">>";
  if (a.is(BaseType::kTensor) || b.is(BaseType::kTensor)) {
    if (shifts || !is_operand(a) || !is_operand(b)) return std::nullopt;
    return ValueType(BaseType::kTensor);
  }
  if (!a.known() || !b.known()) return ValueType();
  if (a.is_number() && b.is_number()) {
    if (compares(operation)) return ValueType(BaseType::kBool);
    if (operation == "/") return ValueType(BaseType::kFloat);
    const ValueType common = common_number(a, b);
    const bool of_integers =
        shifts || operation == "%" || operation == "&" || operation == "|" || operation == "^";
    if (of_integers && !common.is_integer()) return std::nullopt;
    return common;
  }
  const auto is_text = [](const ValueType& type) {
    return type.is(BaseType::kStr) || (type.is_optional() && type.element().is(BaseType::kStr));
  };
  // One that is absent is no word.
  if ((operation == "==" || operation == "!=") && is_text(a) && is_text(b))
    return ValueType(BaseType::kBool);
  // A dtype, a device, a text, a list of sizes.
  const bool equality = operation == "==" || operation == "!=";
  const bool values =
      a.type() != nullptr && b.type() != nullptr && !a.is_optional() && !a.is(BaseType::kScalar);
  if (equality && values && (a == b || same_lists(*a.type(), *b.type()))) {
    return ValueType(BaseType::kBool);
  }
  return std::nullopt;
}

std::optional<ValueType> choice_type(const ValueType& a, const ValueType& b) {
  if (!a.known() || !b.known()) return ValueType();
  if (a == b) return a;
  if (a.is_number() && b.is_number()) {
    return a.is_integer() && b.is_integer() ? a : common_number(a, b);
  }
  if (a.type() == nullptr || b.type() == nullptr) return std::nullopt;
  if (same_lists(*a.type(), *b.type())) return a;
  const auto holds_list = [](const ValueType& type) { return type.type()->is_list(); };
  if (holds_list(a) != holds_list(b)) return std::nullopt;
  if (a.converts_to(*b.type(), false)) return b;
  if (b.converts_to(*a.type(), false)) return a;
  return std::nullopt;
}

bool is_condition(const ValueType& type) {
  return !type.known() || type.is_number() || type.is(BaseType::kSymBool) || type.is_optional();
}

std::optional<ValueType> std_call(std::string_view function,
                                  const std::vector<ValueType>& arguments) {
  const auto found = std_table().find(function);
  if (found == std_table().end() || found->second.kind == StdKind::kUnknown) return ValueType();
  const auto is_value = [](const ValueType& type) { return !type.is_braces(); };
  if (!std::all_of(arguments.begin(), arguments.end(), is_value)) return std::nullopt;
  if (found->second.kind == StdKind::kTuple) return ValueType::tuple(arguments);
  if (arguments.size() != found->second.arity) return std::nullopt;
  const auto is_number = [](const ValueType& type) { return !type.known() || type.is_number(); };
  if (!std::all_of(arguments.begin(), arguments.end(), is_number)) return std::nullopt;
  switch (found->second.kind) {
  case StdKind::kTest: return ValueType(BaseType::kBool);
  case StdKind::kSame: {
    // C++ takes two of one type.
    for (const ValueType& type : arguments) {
      if (!type.known()) return ValueType();
      if (type != arguments[0] && !(type.is_integer() && arguments[0].is_integer()))
        return std::nullopt;
    }
    return arguments[0];
  }
  default: break;
  }
  // Of a complex number, which is unknown here, it is another.
  const bool known = std::all_of(arguments.begin(), arguments.end(),
                                 [](const ValueType& type) { return type.known(); });
  return known ? ValueType(BaseType::kFloat) : ValueType();
}

const std::vector<std::string>& std_functions() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, function] : std_table()) all.push_back(name);
    return all;
  }();
  return names;
}

}  // namespace tenon::codegen
