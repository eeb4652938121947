#include "aten/dispatch/default_argument.h"

#include <limits>

namespace tenon {
namespace {

using schema::BaseType;

int64_t named_constant(const schema::Type& type, const std::string& name) {
  if (name == "Mean") return 1;
  if (name == "Sum") return 2;
  if (type.base == BaseType::kMemoryFormat) {
    for (int i = 0; i < 4; ++i) {
      if (detail::concat(static_cast<MemoryFormat>(i)) == name) return i;
    }
  }
  if (type.base == BaseType::kScalarType) {
    for (int i = 0; i < 64; ++i) {
      std::string known = detail::concat(static_cast<ScalarType>(i));
      known[0] = static_cast<char>(known[0] + ('a' - 'A'));
      if (known == name) return i;
    }
  }
  if (type.base == BaseType::kLayout && name == "strided") return 0;
  detail::raise<NotImplementedError>("the default ", name,
                                     " is not known at run time; give the argument");
}

}  // namespace

Value default_argument(const schema::DefaultValue& value, const schema::Type& type) {
  if (value.is_none()) return {};
  if (const auto* b = value.get<bool>()) return *b;
  if (const auto* i = value.get<int64_t>()) {
    if (type.is_list()) {
      return Value::Ints(static_cast<size_t>(type.list_size().value_or(1)), *i);
    }
    if (type.base == BaseType::kFloat) return static_cast<double>(*i);
    return *i;
  }
  if (const auto* d = value.get<double>()) return *d;
  if (const auto* text = value.get<schema::StringValue>()) return std::string_view(text->text);
  if (const auto* name = value.get<schema::NameValue>()) {
    const bool number = type.base == BaseType::kFloat || type.base == BaseType::kScalar;
    if (number && name->name == "inf") return std::numeric_limits<double>::infinity();
    if (number && name->name == "nan") return std::numeric_limits<double>::quiet_NaN();
    return named_constant(type, name->name);
  }
  const auto& list = *value.get<schema::ListValue>();
  if (type.base == BaseType::kFloat) {
    Value::Doubles numbers;
    for (const auto& one : list) {
      const auto* d = one.get<double>();
      numbers.push_back(d ? *d : static_cast<double>(*one.get<int64_t>()));
    }
    return numbers;
  }
  if (type.base == BaseType::kScalar) {
    Value::Scalars numbers;
    for (const auto& one : list)
      numbers.push_back(default_argument(one, {BaseType::kScalar, {}, {}}).to_scalar());
    return numbers;
  }
  if (type.base == BaseType::kBool) {
    Value::Bools flags;
    for (const auto& one : list) flags.push_back(*one.get<bool>());
    return flags;
  }
  Value::Ints numbers;
  for (const auto& one : list) numbers.push_back(*one.get<int64_t>());
  return numbers;
}

}  // namespace tenon
