#include "codegen/check/value_type.h"

#include <algorithm>

#include "codegen/expr/formulas/tensor_methods.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {

namespace {

using schema::BaseType;
using schema::Type;

bool is_integer_base(BaseType base) { return base == BaseType::kInt || base == BaseType::kSymInt; }

bool is_number_base(BaseType base) {
  return is_integer_base(base) || base == BaseType::kFloat || base == BaseType::kBool;
}

bool base_converts(BaseType from, BaseType to) {
  if (from == to || (is_integer_base(from) && is_integer_base(to))) return true;
  if (to == BaseType::kScalar) return is_number_base(from);
  return to == BaseType::kFloat && is_integer_base(from);
}

bool type_converts(const Type& from, const Type& to) {
  if (to.is_optional()) {
    return type_converts(from.is_optional() ? from.element() : from, to.element());
  }
  if (from.is_optional()) return false;
  if (to.is_list()) {
    // A number is a list of one.
    return from.is_list()
               ? type_converts(from.element(), to.element())
               : is_integer_base(to.base) && from.suffixes.empty() && is_integer_base(from.base);
  }
  return !from.is_list() && base_converts(from.base, to.base);
}

}  // namespace

ValueType ValueType::list(std::vector<ValueType> elements) {
  ValueType type;
  type.kind_ = Kind::kList;
  type.elements_ = std::move(elements);
  return type;
}

ValueType ValueType::tuple(std::vector<ValueType> elements) {
  ValueType type;
  type.kind_ = Kind::kTuple;
  type.elements_ = std::move(elements);
  return type;
}

ValueType ValueType::of_literal(const std::string& text) {
  if (text == "true" || text == "false") return ValueType(BaseType::kBool);
  if (text.empty() || text == "nullptr") return {};
  if (text.front() == '"' || text.front() == '\'') return ValueType(BaseType::kStr);
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

bool ValueType::is_number() const {
  return kind_ == Kind::kSchema && type_.suffixes.empty() && is_number_base(type_.base);
}

ValueType ValueType::element() const {
  if (kind_ != Kind::kSchema || type_.suffixes.empty()) return {};
  return ValueType(type_.element());
}

bool ValueType::braces_convert_to(const Type& to) const {
  const bool one = elements_.size() == 1;
  if (to.is_optional()) {
    return elements_.empty() || braces_convert_to(to.element()) ||
           (one && elements_[0].converts_to(to.element(), false));
  }
  if (to.is_list()) {
    const Type element = to.element();
    return std::all_of(elements_.begin(), elements_.end(),
                       [&](const ValueType& type) { return type.converts_to(element, false); });
  }
  return to.is_tensor() && (elements_.empty() || (one && elements_[0].converts_to(to, false)));
}

bool ValueType::converts_to(const Type& to, bool is_options) const {
  switch (kind_) {
  case Kind::kUnknown: return true;
  case Kind::kOptions: return is_options;
  case Kind::kTuple: return false;
  case Kind::kList: return is_options || braces_convert_to(to);
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
    if (type_.base == to.base || (is_integer_base(type_.base) && is_integer_base(to.base)))
      return Conversion::kNone;
    if (is_number_base(type_.base) && is_number_base(to.base)) return Conversion::kOfNumbers;
  }
  if (kind_ == Kind::kSchema && type_ == to) return Conversion::kNone;
  if (converts_to(to, is_options)) return Conversion::kByClass;
  return std::nullopt;
}

std::string ValueType::describe() const {
  switch (kind_) {
  case Kind::kUnknown: return "?";
  case Kind::kOptions: return "TensorOptions";
  case Kind::kList: {
    const std::string inside = codegen::describe(elements_);
    return "{" + inside.substr(1, inside.size() - 2) + "}";
  }
  case Kind::kTuple: return codegen::describe(elements_);
  case Kind::kSchema: break;
  }
  return schema::to_string(type_);
}

std::string describe(const std::vector<ValueType>& types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i) text += (i > 0 ? ", " : "") + types[i].describe();
  return text + ")";
}

}  // namespace tenon::codegen
