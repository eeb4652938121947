#include "codegen/check/value_type.h"

#include "codegen/expr/tensor_methods.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {

namespace {

using schema::BaseType;
using schema::Type;

bool is_integer(BaseType base) { return base == BaseType::kInt || base == BaseType::kSymInt; }

bool is_number(BaseType base) {
  return is_integer(base) || base == BaseType::kFloat || base == BaseType::kBool;
}

bool base_converts(BaseType from, BaseType to) {
  if (from == to || (is_integer(from) && is_integer(to))) return true;
  if (to == BaseType::kScalar) return is_number(from);
  return to == BaseType::kFloat && is_integer(from);
}

bool type_converts(const Type& from, const Type& to) {
  if (to.is_optional()) {
    return type_converts(from.is_optional() ? from.element() : from, to.element());
  }
  if (from.is_optional()) return false;
  if (to.is_list()) {
    // A number is a list of one.
    return from.is_list() ? type_converts(from.element(), to.element())
                          : is_integer(to.base) && from.suffixes.empty() && is_integer(from.base);
  }
  return !from.is_list() && base_converts(from.base, to.base);
}

}  // namespace

ValueType ValueType::list() {
  ValueType type;
  type.kind_ = Kind::kList;
  return type;
}

ValueType ValueType::of_literal(const std::string& text) {
  if (text == "true" || text == "false") return ValueType(BaseType::kBool);
  if (text.empty() || text == "nullptr" || text.front() == '\'') return {};
  if (text.front() == '"') return ValueType(BaseType::kStr);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool real = !hexadecimal && text.find_first_of(".eEfF") != std::string::npos;
  return ValueType(real ? BaseType::kFloat : BaseType::kInt);
}

ValueType ValueType::of_method(const std::string& method) {
  const expr::TensorMethod* known = expr::find_tensor_method(method);
  if (known == nullptr || known->type.empty()) return {};
  if (known->type == "TensorOptions") {
    ValueType options;
    options.kind_ = Kind::kOptions;
    return options;
  }
  std::vector<schema::ParseError> none;
  return ValueType(schema::parse_type(known->type, none).value());
}

bool ValueType::converts_to(const Type& to, bool is_options) const {
  switch (kind_) {
  case Kind::kUnknown: return true;
  case Kind::kOptions: return is_options;
  case Kind::kList: return is_options || to.is_list() || to.is_optional() || to.is_tensor();
  case Kind::kSchema: break;
  }
  // TensorOptions are made of a dtype, a device or a layout.
  if (is_options) {
    return is(BaseType::kScalarType) || is(BaseType::kDevice) || is(BaseType::kLayout);
  }
  return type_converts(type_, to);
}

std::optional<ValueType::Conversion> ValueType::conversion_to(const Type& to,
                                                              bool is_options) const {
  if (!known()) return Conversion::kNone;
  const bool plain = kind_ == Kind::kSchema && type_.suffixes.empty() && to.suffixes.empty();
  if (plain && !is_options) {
    if (type_.base == to.base || (is_integer(type_.base) && is_integer(to.base)))
      return Conversion::kNone;
    if (is_number(type_.base) && is_number(to.base)) return Conversion::kOfNumbers;
  }
  if (kind_ == Kind::kSchema && type_ == to) return Conversion::kNone;
  if (converts_to(to, is_options)) return Conversion::kByClass;
  return std::nullopt;
}

std::string ValueType::describe() const {
  switch (kind_) {
  case Kind::kUnknown: return "?";
  case Kind::kOptions: return "TensorOptions";
  case Kind::kList: return "{...}";
  case Kind::kSchema: break;
  }
  return schema::to_string(type_);
}

}  // namespace tenon::codegen
