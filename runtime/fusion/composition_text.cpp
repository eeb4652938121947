#include "runtime/fusion/composition_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace tenon::fusion {
namespace {

using schema::BaseType;

std::string decimal(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

template <class List, class Text>
std::string braces(const List& list, const Text& text) {
  std::vector<std::string> parts;
  for (const auto& one : list) parts.push_back(text(one));
  return "{" + joined(parts) + "}";
}

constexpr const char* kNoNumber = "std::nullopt";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void add_names(const std::string& text, std::set<std::string>& names) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) names.insert(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
}

/// Operators that compositions write with a sign. `alpha` and the like are then left out.
const std::map<std::string_view, std::string_view>& signs() {
  static const std::map<std::string_view, std::string_view> table = {
      {"add", "+"},         {"sub", "-"},         {"mul", "*"},         {"div", "/"},
      {"true_divide", "/"}, {"subtract", "-"},    {"multiply", "*"},    {"divide", "/"},
      {"lt", "<"},          {"le", "<="},         {"gt", ">"},          {"ge", ">="},
      {"eq", "=="},         {"ne", "!="},         {"__and__", "&"},     {"__or__", "|"},
      {"__xor__", "^"},     {"less", "<"},        {"greater", ">"},     {"bitwise_and", "&"},
      {"bitwise_or", "|"},  {"bitwise_xor", "^"}, {"less_equal", "<="}, {"greater_equal", ">="},
      {"not_equal", "!="}};
  return table;
}

}  // namespace

Scalar wrapped_number(const TensorBase& t) {
  switch (t.scalar_type()) {
  case kBool: return *t.data_ptr<bool>();
  case kLong: return *t.data_ptr<int64_t>();
  case kDouble: return *t.data_ptr<double>();
  case kFloat: return *t.data_ptr<float>();
  default: break;
  }
  tenon::detail::raise<Error>("[fuse] a number of ", t.scalar_type(),
                              " cannot be written in a composition");
}

std::string number_text(const Scalar& number, std::string_view type) {
  TENON_CHECK(!number.is_complex(), "[fuse] complex numbers cannot be written in a composition");
  std::string text;
  if (number.is_boolean()) {
    return number.toBool() ? "true" : "false";
  } else if (number.is_integral(false) && type != "float") {
    text = std::to_string(number.toLong());
  } else {
    text = decimal(number.toDouble());
  }
  return text[0] == '-' && type == "Scalar" ? "(" + text + ")" : text;
}

std::optional<std::string>
value_text(const Value& value, const schema::Type& type,
           const std::function<std::string(const TensorBase&)>& text_of_tensor) {
  const schema::Type inner = type.is_optional() ? type.without_optional() : type;
  // `{}` would be a number, or false, of another overload.
  const bool is_number = inner.base == BaseType::kScalar || inner.base == BaseType::kFloat ||
                         inner.base == BaseType::kBool || inner.base == BaseType::kInt ||
                         inner.base == BaseType::kSymInt;
  if (value.is_none()) return is_number && !inner.is_list() ? kNoNumber : "{}";
  switch (inner.base) {
  case BaseType::kTensor:
    if (value.is_tensor()) return text_of_tensor(value.to_tensor());
    return braces(value.to_tensors(), text_of_tensor);
  case BaseType::kScalarType: return "k" + std::string(to_string(value.to_enum<ScalarType>()));
  case BaseType::kStr: return "\"" + value.to_str() + "\"";
  case BaseType::kScalar:
    if (!inner.is_list()) return number_text(value.to_scalar(), "Scalar");
    return braces(value.to_scalars(), [](const Scalar& one) { return number_text(one, ""); });
  case BaseType::kBool:
    if (!inner.is_list()) return value.to_bool() ? "true" : "false";
    return braces(value.to_bools(), [](bool one) { return std::string(one ? "true" : "false"); });
  case BaseType::kFloat:
    if (!inner.is_list()) return number_text(value.to_double(), "float");
    return braces(value.to_doubles(), [](double one) { return number_text(one, "float"); });
  case BaseType::kInt:
  case BaseType::kSymInt:
    // Enumerations of reductions are integers as well.
    if (!inner.is_list()) return std::to_string(value.to_int());
    return braces(value.to_ints(), [](int64_t one) { return std::to_string(one); });
  // The layout and the memory format of results are the operator's own.
  case BaseType::kLayout:
    return value.to_int() == 0 ? std::optional<std::string>("{}") : std::nullopt;
  case BaseType::kMemoryFormat:
    if (value.to_enum<MemoryFormat>() == MemoryFormat::Preserve) return "{}";
    return value.to_enum<MemoryFormat>() == MemoryFormat::Contiguous
               ? std::optional<std::string>("MemoryFormat::Contiguous")
               : std::nullopt;
  // That of the tensors.
  case BaseType::kDevice:
    return value.to_device().is_meta() ? std::optional<std::string>("{}") : std::nullopt;
  default: return std::nullopt;
  }
}

std::string operator_text(const schema::FunctionSchema& schema,
                          const std::vector<std::string>& arguments) {
  const std::string& name = schema.name;
  if (name == "neg" || name == "negative") return "-" + arguments[0];
  if (name == "bitwise_not") return "~" + arguments[0];
  if (name == "rsub" && arguments.size() == 2) return arguments[1] + " - " + arguments[0];
  const auto sign = signs().find(name);
  if (sign != signs().end() && arguments.size() == 2)
    return arguments[0] + " " + std::string(sign->second) + " " + arguments[1];
  // Without a lower bound it is another operator, which expressions know.
  if (name == "clamp" && arguments.size() == 3 && arguments[1] == kNoNumber)
    return "clamp_max(" + arguments[0] + ", " + arguments[2] + ")";
  return name + "(" + joined(arguments) + ")";
}

Lines needed_lines(const std::vector<std::pair<std::string, std::string>>& locals,
                   const std::string& result) {
  Lines lines{"    " + result + "\n", {}};
  add_names(result, lines.names);
  for (auto local = locals.rbegin(); local != locals.rend(); ++local) {
    if (!lines.names.contains(local->first)) continue;
    add_names(local->second, lines.names);
    lines.text = "    " + local->first + " = " + local->second + ";\n" + lines.text;
  }
  return lines;
}

std::pair<std::string, std::string> entry_text(const std::vector<Argument>& arguments,
                                               const Lines& lines, size_t num_results,
                                               const std::vector<ScalarType>& dtypes) {
  IntArrayRef largest;
  for (const Argument& one : arguments) {
    if (one.sizes.size() > largest.size()) largest = one.sizes;
  }
  std::vector<std::string> schema, columns;
  for (const Argument& one : arguments) {
    schema.push_back("Tensor " + one.name);
    if (largest.size() > 1 && one.sizes.size() == 1 && one.sizes[0] == largest[largest.size() - 1])
      columns.push_back(one.name);
  }
  const std::string returns =
      num_results == 1 ? "Tensor"
                       : "(" + joined(std::vector<std::string>(num_results, "Tensor")) + ")";
  const std::string rest = "(" + joined(schema) + ") -> " + returns + "\n" +
                           (columns.empty() ? "" : "  columns: [" + joined(columns) + "]\n") +
                           "  composite: |\n" + lines.text;
  std::string all = rest;
  for (const ScalarType dtype : dtypes) all += std::string(" ") + to_string(dtype);
  const std::string name = "fused::f" + digest(all);
  return {name, "- func: " + name + rest};
}

std::string digest(std::string_view text) {
  // FNV-1a twice, with other beginnings, and the length.
  uint64_t halves[] = {14695981039346656037u, 0x9e3779b97f4a7c15u ^ text.size()};
  for (const char c : text) {
    for (uint64_t& half : halves) half = (half ^ static_cast<unsigned char>(c)) * 1099511628211u;
    halves[1] ^= halves[1] >> 29;
  }
  std::string digits;
  for (const uint64_t half : halves) {
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[half >> shift & 15];
  }
  return digits;
}

}  // namespace tenon::fusion
