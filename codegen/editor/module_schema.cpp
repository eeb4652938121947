#include "codegen/editor/module_schema.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::codegen {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSignature = R"(^\s*[A-Za-z_#][\w#]*\([\s\S]*\)(\s*->[\s\S]*)?$)";

Json text() { return {{"type", "string"}, {"minLength", 1}}; }

/// An expression or a name, which YAML may take for a number or a boolean.
Json value() { return {{"type", Json::array({"string", "number", "boolean"})}}; }

Json list_or(const Json& one) {
  return {{"anyOf", Json::array({one, {{"type", "array"}, {"items", one}}})}};
}

Json map_of(const Json& one) { return {{"type", "object"}, {"additionalProperties", one}}; }

Json record(const std::map<std::string, Json>& properties) {
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

/// An entry of these keys, the first of which it must have. `forms` has those that are not texts.
Json entry(const std::vector<std::string>& keys, const std::map<std::string, Json>& forms) {
  Json properties = Json::object();
  for (const std::string& key : keys) {
    const auto form = forms.find(key);
    properties[key] = form == forms.end() ? text() : form->second;
  }
  properties[keys[0]] = {{"type", "string"}, {"pattern", kSignature}};
  return {{"type", "object"},
          {"required", Json::array({keys[0]})},
          {"properties", properties},
          {"additionalProperties", false}};
}

Json document(const char* title, Json rest) {
  Json all = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  all.update(rest);
  return all;
}

}  // namespace

Json modules_schema(const std::vector<std::string>& module_keys,
                    const std::vector<std::string>& function_keys) {
  const Json state = {{"anyOf", Json::array({text(), record({{"size", list_or(value())},
                                                             {"init", list_or(text())},
                                                             {"when", value()},
                                                             {"given", text()},
                                                             {"dtype", text()}})})}};
  const Json flag = {{"type", "boolean"}}, names = list_or(value());
  const std::map<std::string, Json> both = {{"dims", list_or(value())},
                                            {"words", map_of(names)},
                                            {"defaults", map_of(names)},
                                            {"positional", flag}};
  std::map<std::string, Json> of_module = both;
  of_module.insert(
      {{"parameters", map_of(state)},
       {"buffers", map_of(state)},
       {"modules", map_of(text())},
       {"check", list_or(text())},
       {"repr", names},
       {"repr_cpp", names},
       {"expand", names},
       {"names", map_of(names)},
       {"legacy", map_of(names)},
       {"extends",
        {{"anyOf", Json::array({text(), record({{"python", text()}, {"cpp", text()}})})}}},
       {"version", value()},
       {"only", {{"enum", Json::array({"cpp", "python"})}}}});
  Json module = entry(module_keys, of_module);
  module["properties"].erase("forward(...)");
  module["patternProperties"] = {{"^forward\\(", value()}};
  const Json entries = {{"type", "array"},
                        {"items", {{"anyOf", Json::array({module, entry(function_keys, both)})}}}};
  return document("modules of Tenon", map_of(entries));
}

Json optimizers_schema(const std::vector<std::string>& keys) {
  const Json state = {
      {"anyOf", Json::array({value(), record({{"init", value()}, {"when", value()}})})}};
  const Json one = entry(
      keys, {{"check", map_of(text())}, {"state", map_of(state)}, {"group", list_or(text())}});
  return document("optimizers of Tenon", {{"type", "array"}, {"items", one}});
}

}  // namespace tenon::codegen
