#include "codegen/emit/cpp_types.h"

#include <map>

namespace tenon::codegen {
namespace {

using schema::Type;

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

std::string cpp_default(const schema::Argument& argument) {
  return argument.default_value ? literal(*argument.default_value, argument.type) : "";
}

std::string cpp_identifier(const schema::FunctionSchema& schema) {
  return schema.overload.empty() ? schema.name : schema.name + "_" + schema.overload;
}

}  // namespace tenon::codegen
