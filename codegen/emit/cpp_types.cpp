#include "codegen/emit/cpp_types.h"

#include <map>

namespace tenon::codegen {
namespace {

using schema::BaseType;
using schema::Type;

/// C++ type of a value of the base type; symbolic sizes are plain numbers here.
std::string base_type(BaseType base) {
  static const std::map<BaseType, std::string> kTypes = {
      {BaseType::kTensor, "tenon::Tensor"},
      {BaseType::kInt, "int64_t"},
      {BaseType::kSymInt, "int64_t"},
      {BaseType::kSymBool, "bool"},
      {BaseType::kFloat, "double"},
      {BaseType::kBool, "bool"},
      {BaseType::kStr, "::std::string_view"},
      {BaseType::kScalar, "tenon::Scalar"},
      {BaseType::kScalarType, "tenon::ScalarType"},
      {BaseType::kLayout, "tenon::Layout"},
      {BaseType::kDevice, "tenon::Device"},
      {BaseType::kDeviceIndex, "tenon::DeviceIndex"},
      {BaseType::kMemoryFormat, "tenon::MemoryFormat"},
      {BaseType::kGenerator, "tenon::Generator"},
      {BaseType::kDimVector, "tenon::DimVector"},
      {BaseType::kStorage, "tenon::Storage"},
  };
  const auto found = kTypes.find(base);
  return found == kTypes.end() ? std::string(to_string(base)) : found->second;
}

bool is_optional_int_list(const Type& type) {
  return type.is_optional() && type.is_list() && base_type(type.base) == "int64_t";
}

std::string view_type(const Type& type) {
  if (type.suffixes.empty()) return base_type(type.base);
  if (is_optional_int_list(type)) return "tenon::OptionalIntArrayRef";
  const Type inner = type.element();
  if (type.suffixes.back().kind == schema::TypeSuffix::Kind::kOptional) {
    return "::std::optional<" + view_type(inner) + ">";
  }
  if (type.base == BaseType::kBool && type.list_size()) {
    return "::std::array<bool, " + std::to_string(*type.list_size()) + ">";
  }
  if (type.is_tensor_list()) return "tenon::TensorList";
  if (base_type(type.base) == "int64_t" && inner.suffixes.empty()) return "tenon::IntArrayRef";
  return "tenon::ArrayRef<" + view_type(inner) + ">";
}

std::string literal(const schema::DefaultValue& value, const Type& type) {
  using namespace schema;
  static const std::map<std::string, std::string> kNames = {
      {"Mean", "1"},
      {"Sum", "2"},
      {"contiguous_format", "tenon::MemoryFormat::Contiguous"},
      {"preserve_format", "tenon::MemoryFormat::Preserve"},
      {"channels_last", "tenon::MemoryFormat::ChannelsLast"},
      {"strided", "tenon::kStrided"},
      {"long", "tenon::kLong"},
      {"float", "tenon::kFloat"},
      {"double", "tenon::kDouble"},
      {"int", "tenon::kInt"},
      {"bool", "tenon::kBool"},
  };
  if (value.is_none()) return type.is_optional_tensor() || type.is_list() ? "{}" : "::std::nullopt";
  if (const bool* b = value.get<bool>()) return *b ? "true" : "false";
  if (const auto* name = value.get<NameValue>()) {
    const auto found = kNames.find(name->name);
    return found == kNames.end() ? name->name : found->second;
  }
  if (const auto* text = value.get<StringValue>()) return "\"" + text->text + "\"";
  if (const auto* list = value.get<ListValue>()) {
    std::string out = "{";
    for (size_t i = 0; i < list->size(); ++i) out += (i ? ", " : "") + (*list)[i].text;
    return out + "}";
  }
  return value.text;
}

}  // namespace

std::string cpp_parameter_type(const schema::Argument& argument) {
  const Type& type = argument.type;
  if (type.is_tensor()) return argument.is_mutable() ? "tenon::Tensor&" : "const tenon::Tensor&";
  const std::string text = view_type(type);
  const Type plain = type.without_optional();
  const bool by_reference = plain.is(BaseType::kScalar) || type.is_optional_tensor();
  return by_reference ? "const " + text + "&" : text;
}

std::string cpp_owned_type(const Type& type) {
  if (type.suffixes.empty())
    return type.base == BaseType::kStr ? "::std::string" : base_type(type.base);
  const Type inner = type.element();
  if (type.suffixes.back().kind == schema::TypeSuffix::Kind::kOptional) {
    return "::std::optional<" + cpp_owned_type(inner) + ">";
  }
  if (type.base == BaseType::kBool && type.list_size()) return view_type(type);
  return "::std::vector<" + cpp_owned_type(inner) + ">";
}

std::string cpp_return_type(const schema::FunctionSchema& schema) {
  const auto one = [&](const schema::Return& ret) {
    if (ret.type.is_tensor())
      return std::string(ret.is_mutable() ? "tenon::Tensor&" : "tenon::Tensor");
    return cpp_owned_type(ret.type);
  };
  if (schema.returns.empty()) return "void";
  if (schema.returns.size() == 1) return one(schema.returns[0]);
  std::string text = "::std::tuple<";
  for (size_t i = 0; i < schema.returns.size(); ++i)
    text += (i ? ", " : "") + one(schema.returns[i]);
  return text + ">";
}

std::string cpp_default(const schema::Argument& argument) {
  return argument.default_value ? literal(*argument.default_value, argument.type) : "";
}

std::string cpp_identifier(const schema::FunctionSchema& schema) {
  return schema.overload.empty() ? schema.name : schema.name + "_" + schema.overload;
}

}  // namespace tenon::codegen
