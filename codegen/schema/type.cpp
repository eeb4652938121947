#include "codegen/schema/type.h"

#include <array>

namespace tenon::schema {

namespace {

constexpr std::array<std::string_view, 21> kBaseNames = {
    "Tensor",  "int",        "SymInt",  "SymBool", "float",       "bool",         "str",
    "Scalar",  "ScalarType", "Layout",  "Device",  "DeviceIndex", "MemoryFormat", "Generator",
    "Dimname", "DimVector",  "QScheme", "Storage", "Stream",      "GraphModule",  ""};

bool ends_with(const Type& type, TypeSuffix::Kind kind) {
  return !type.suffixes.empty() && type.suffixes.back().kind == kind;
}

}  // namespace

std::string_view to_string(BaseType base) { return kBaseNames[static_cast<size_t>(base)]; }

std::optional<BaseType> base_type_from(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (size_t i = 0; i < kBaseNames.size(); ++i) {
    if (kBaseNames[i] == name) return static_cast<BaseType>(i);
  }
  return std::nullopt;
}

const std::vector<std::string>& base_type_names() {
  static const std::vector<std::string> names(kBaseNames.begin(), kBaseNames.end() - 1);
  return names;
}

bool Type::is_optional() const { return ends_with(*this, TypeSuffix::Kind::kOptional); }

bool Type::is_list() const {
  const size_t n = suffixes.size() - (is_optional() ? 1 : 0);
  return n > 0 && suffixes[n - 1].kind == TypeSuffix::Kind::kList;
}

std::optional<int64_t> Type::list_size() const {
  return is_list() ? suffixes[suffixes.size() - (is_optional() ? 2 : 1)].size : std::nullopt;
}

bool Type::is_optional_tensor() const {
  return base == BaseType::kTensor && suffixes.size() == 1 && is_optional();
}

bool Type::is_tensor_list() const {
  return base == BaseType::kTensor && suffixes.size() == 1 && is_list();
}

bool Type::is_optional_tensor_list() const {
  return base == BaseType::kTensor && suffixes.size() == 2 && !is_optional() && is_list() &&
         suffixes.front().kind == TypeSuffix::Kind::kOptional;
}

Type Type::element() const {
  Type inner = *this;
  inner.suffixes.pop_back();
  return inner;
}

Type Type::without_optional() const { return is_optional() ? element() : *this; }

}  // namespace tenon::schema
