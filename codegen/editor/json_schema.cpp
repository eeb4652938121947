#include "codegen/editor/json_schema.h"

#include "codegen/model/keys.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

constexpr const char* kNamePattern =
    R"(^\s*\|*[A-Za-z_]\w*(\.\w+)?(\|([A-Za-z_]\w*(\.\w+)?)?)*\s*$)";
constexpr const char* kKernelPattern = R"(^\s*([A-Za-z_]\w*::)*[A-Za-z_]\w*\s*$)";
constexpr const char* kSchemaPattern =
    R"(^\s*([A-Za-z_]\w*::)?[A-Za-z_]\w*(\.[\w|]+)?\s*\([\s\S]*\)\s*->\s*\S[\s\S]*$)";
constexpr const char* kFunctionPattern =
    R"(^\s*[A-Za-z_]\w*\(\s*([A-Za-z_]\w*(\s*,\s*[A-Za-z_]\w*)*)?\s*\)\s*$)";
// A word is one of the two.
constexpr const char* kCompositePattern = R"(^\s*(implicit|explicit)\s*$|[^\w\s])";
constexpr const char* kNamesPattern = R"(^\s*[A-Za-z_]\w*(\s*,\s*[A-Za-z_]\w*)*\s*$)";

std::string alternatives(const Words& words) {
  std::string pattern;
  for (const std::string& word : words) pattern += (pattern.empty() ? "(" : "|") + word;
  return pattern + ")";
}

/// "a, b" out of the words.
std::string list_pattern(const Words& words) {
  const std::string one = alternatives(words);
  return "^\\s*" + one + "(\\s*,\\s*" + one + ")*\\s*$";
}

Json word_list(const Words& words) {
  const Json one = {{"type", "string"}, {"enum", words}};
  return {{"anyOf", Json::array({one,
                                 {{"type", "string"}, {"pattern", list_pattern(words)}},
                                 {{"type", "array"}, {"items", one}}})}};
}

Json some_of(const Words& words) {
  Json list = word_list(words);
  list["anyOf"].back()["minItems"] = 1;
  return list;
}

Json text_list() {
  return {{"anyOf", Json::array({{{"type", "string"}},
                                 {{"type", "array"}, {"items", {{"type", "string"}}}}})}};
}

// A formula may look like a number to YAML: `self: 0`.
Json formula() { return {{"type", Json::array({"string", "number", "boolean"})}}; }

Json formulas() {
  return {{"type", "object"},
          {"propertyNames", {{"pattern", kNamesPattern}}},
          {"additionalProperties", formula()}};
}

Json dispatch(const Words& keys) {
  const Json kernel = {{"type", "string"}, {"pattern", kKernelPattern}};
  Json properties = Json::object();
  for (const std::string& key : keys) properties[key] = kernel;
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"patternProperties", {{list_pattern(keys), kernel}}},
          {"additionalProperties", false}};
}

class SchemaWriter {
 public:
  SchemaWriter(FileKind kind, Dialect dialect, const std::vector<Tag>& tags)
      : kind_(kind), dialect_(dialect) {
    for (const Tag& tag : tags) tags_.push_back(tag.name.text);
  }

  Json write() {
    Json properties = Json::object();
    Json required = Json::array();
    for (const KeyInfo& key : entry_keys(kind_)) {
      if (kind_ == FileKind::kOperators && !contains(operator_keys(dialect_), key.name)) continue;
      Json value = form(key);
      value["description"] = key.description;
      properties[std::string(key.name)] = std::move(value);
      if (key.required) required.push_back(key.name);
    }
    Json entry = {{"type", "object"},
                  {"properties", std::move(properties)},
                  {"required", std::move(required)}};
    if (kind_ == FileKind::kOperators) {
      entry["required"] = Json::array({"func"});
      if (dialect_ == Dialect::kTenon) {
        entry.erase("required");
        entry["oneOf"] = Json::array();
        for (const auto& keys : {Words{"func"}, Words{"alias", "of"}, Words{"define", "as"}}) {
          entry["oneOf"].push_back({{"required", keys}});
        }
      }
    }
    if (kind_ == FileKind::kDerivatives) {
      entry["propertyNames"] = {{"pattern", kNamesPattern}};
      entry["additionalProperties"] = formula();
    } else {
      entry["additionalProperties"] = false;
    }
    Json document = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title()}};
    if (kind_ == FileKind::kBackend) {
      document.update(entry);
      return document;
    }
    document["type"] = Json::array({"array", "null"});
    document["items"] = std::move(entry);
    if (kind_ == FileKind::kOperators && dialect_ == Dialect::kTenon) {
      document["definitions"] = {{"expression", expression()}};
    }
    return document;
  }

 private:
  std::string title() const {
    switch (kind_) {
    case FileKind::kOperators: return "Operators (native_functions.yaml)";
    case FileKind::kDerivatives: return "Derivatives (derivatives.yaml)";
    case FileKind::kTags: return "Tags (tags.yaml)";
    case FileKind::kBackend: return "Kernels of a backend outside the library";
    case FileKind::kUnknown: break;
    }
    return {};
  }

  static Json expression() {
    return {{"anyOf",
             Json::array({{{"type", Json::array({"string", "number"})}},
                          {{"type", "object"},
                           {"minProperties", 1},
                           {"propertyNames", {{"pattern", kNamesPattern}}},
                           {"additionalProperties", {{"$ref", "#/definitions/expression"}}}}})}};
  }

  Json form(const KeyInfo& key) const {
    switch (key.form) {
    case ValueForm::kSchema:
      // A derivative may name its operator instead.
      if (kind_ == FileKind::kOperators) return {{"type", "string"}, {"pattern", kSchemaPattern}};
      return {{"type", "string"}, {"minLength", 1}};
    case ValueForm::kFunction: return {{"type", "string"}, {"pattern", kFunctionPattern}};
    case ValueForm::kComposite: return {{"type", "string"}, {"pattern", kCompositePattern}};
    case ValueForm::kText: return {{"type", "string"}, {"minLength", 1}};
    case ValueForm::kName: return {{"type", "string"}, {"pattern", kNamePattern}};
    case ValueForm::kFlag: return {{"type", "boolean"}};
    case ValueForm::kNames: return text_list();
    case ValueForm::kVariants: return word_list(variant_words(dialect_));
    case ValueForm::kTags: return tags_.empty() ? text_list() : word_list(tags_);
    case ValueForm::kWord: return {{"type", "string"}, {"enum", *key.words}};
    case ValueForm::kDispatch: {
      const Json map = dispatch(dispatch_keys(dialect_));
      if (dialect_ == Dialect::kUpstream) return map;
      return {{"anyOf", Json::array({map, some_of(dispatch_keys(dialect_))})}};
    }
    case ValueForm::kBackends: {
      const Json flag = {{"type", "boolean"}};
      if (dialect_ == Dialect::kUpstream) return flag;
      return {{"anyOf", Json::array({flag, some_of(dispatch_keys(dialect_))})}};
    }
    case ValueForm::kDtypes: return word_list(pointwise_categories());
    case ValueForm::kPointwise: return {{"$ref", "#/definitions/expression"}};
    case ValueForm::kRowwise:
      return {{"type", Json::array({"string", "number", "object"})},
              {"minProperties", 1},
              {"additionalProperties", {{"type", Json::array({"string", "number"})}}}};
    case ValueForm::kOver:
      return {{"type", Json::array({"string", "integer", "array"})},
              {"items", {{"type", "integer"}}}};
    case ValueForm::kTexts: return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case ValueForm::kLoops:
      return {{"type", Json::array({"string", "object"})},
              {"additionalProperties", {{"type", "string"}}}};
    case ValueForm::kOutputs:
      return {{"type", "array"}, {"items", {{"type", Json::array({"boolean", "string"})}}}};
    case ValueForm::kFormulas:
      return {{"type", "object"},
              {"propertyNames", {{"enum", autograd_keys()}}},
              {"additionalProperties", formulas()}};
    }
    return Json::object();
  }

  FileKind kind_;
  Dialect dialect_;
  Words tags_;
};

}  // namespace

Json json_schema(FileKind kind, Dialect dialect, const std::vector<Tag>& tags) {
  return SchemaWriter(kind, dialect, tags).write();
}

}  // namespace tenon::codegen
