#include "codegen/meaning/cpp_names.h"

#include <cmath>
#include <map>

namespace tenon::codegen {
namespace {

using schema::Type;

std::string string_literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  return out + "\"";
}

std::string literal(const schema::DefaultValue& value, const Type& type) {
  using namespace schema;
  if (value.is_none()) return type.is_optional_tensor() || type.is_list() ? "{}" : "::std::nullopt";
  if (const bool* b = value.get<bool>()) return *b ? "true" : "false";
  if (const auto* name = value.get<NameValue>()) {
    return cpp_constant(type.base, name->name).value_or(name->name);
  }
  if (const auto* text = value.get<StringValue>()) return string_literal(text->text);
  if (const auto* list = value.get<ListValue>()) {
    std::string out = "{";
    for (size_t i = 0; i < list->size(); ++i) out += (i ? ", " : "") + literal((*list)[i], type);
    return out + "}";
  }
  if (const auto* d = value.get<double>(); d != nullptr && !std::isfinite(*d)) {
    return (*d < 0 ? "-" : "") + *cpp_constant(type.base, std::isnan(*d) ? "nan" : "inf");
  }
  // No integer literal has this value.
  if (const auto* i = value.get<int64_t>(); i != nullptr && *i == INT64_MIN) return "INT64_MIN";
  return value.text;
}

}  // namespace

std::optional<std::string> cpp_constant(schema::BaseType base, const std::string& name) {
  using schema::BaseType;
  static const std::map<std::string, std::string> kNames = {
      {"Mean", "1"},
      {"Sum", "2"},
      {"inf", "::std::numeric_limits<double>::infinity()"},
      {"nan", "::std::numeric_limits<double>::quiet_NaN()"}};
  static const std::map<std::string, std::string> kFormats = {
      {"contiguous_format", "Contiguous"},
      {"preserve_format", "Preserve"},
      {"channels_last", "ChannelsLast"},
      {"channels_last_3d", "ChannelsLast3d"}};
  static const std::map<std::string, std::string> kLayouts = {
      {"strided", "Strided"}, {"sparse_coo", "Sparse"}, {"sparse_csr", "SparseCsr"}};
  static const std::map<std::string, std::string> kDtypes = {{"bfloat16", "BFloat16"},
                                                             {"bool", "Bool"},
                                                             {"byte", "Byte"},
                                                             {"uint8", "Byte"},
                                                             {"int8", "Char"},
                                                             {"char", "Char"},
                                                             {"short", "Short"},
                                                             {"int16", "Short"},
                                                             {"int", "Int"},
                                                             {"int32", "Int"},
                                                             {"long", "Long"},
                                                             {"int64", "Long"},
                                                             {"half", "Half"},
                                                             {"float16", "Half"},
                                                             {"float", "Float"},
                                                             {"float32", "Float"},
                                                             {"double", "Double"},
                                                             {"float64", "Double"},
                                                             {"cfloat", "ComplexFloat"},
                                                             {"complex64", "ComplexFloat"},
                                                             {"cdouble", "ComplexDouble"},
                                                             {"complex128", "ComplexDouble"}};
  const auto look_up = [&](const std::map<std::string, std::string>& table,
                           const char* prefix) -> std::optional<std::string> {
    const auto found = table.find(name);
    if (found == table.end()) return std::nullopt;
    return prefix + found->second;
  };
  switch (base) {
  case BaseType::kScalarType: return look_up(kDtypes, "tenon::k");
  case BaseType::kMemoryFormat: return look_up(kFormats, "tenon::MemoryFormat::");
  case BaseType::kLayout:
    return name == "strided" ? "tenon::kStrided" : look_up(kLayouts, "tenon::Layout::");
  default: return look_up(kNames, "");
  }
}

std::string cpp_default(const schema::Argument& argument) {
  return argument.default_value ? literal(*argument.default_value, argument.type) : "";
}

std::string cpp_namespace(const schema::FunctionSchema& schema) {
  return schema.ns.empty() || schema.ns == "aten" ? "tenon" : schema.ns;
}

std::string cpp_identifier(const schema::FunctionSchema& schema) {
  return schema.overload.empty() ? schema.name : schema.name + "_" + schema.overload;
}

}  // namespace tenon::codegen
