#include "codegen/schema/cpp_types.h"

#include <map>

namespace tenon::schema {
namespace {

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
  if (type.suffixes.back().kind == TypeSuffix::Kind::kOptional) {
    return "::std::optional<" + view_type(inner) + ">";
  }
  if (type.base == BaseType::kBool && type.list_size()) {
    return "::std::array<bool, " + std::to_string(*type.list_size()) + ">";
  }
  if (type.is_tensor_list()) return "tenon::TensorList";
  if (base_type(type.base) == "int64_t" && inner.suffixes.empty()) return "tenon::IntArrayRef";
  return "tenon::ArrayRef<" + view_type(inner) + ">";
}

}  // namespace

std::string cpp_parameter_type(const Argument& argument) {
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
  if (type.suffixes.back().kind == TypeSuffix::Kind::kOptional) {
    return "::std::optional<" + cpp_owned_type(inner) + ">";
  }
  if (type.base == BaseType::kBool && type.list_size()) return view_type(type);
  return "::std::vector<" + cpp_owned_type(inner) + ">";
}

std::string cpp_return_type(const FunctionSchema& schema) {
  const auto one = [&](const Return& ret) {
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

}  // namespace tenon::schema
