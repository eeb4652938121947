#include "codegen/emit/python.h"

#include <map>
#include <tuple>

namespace tenon::codegen {
namespace {

using schema::BaseType;
using schema::Type;

/// What a value of one base type is called: in Parameter::Kind, among the conversions of
/// Arguments, and in signatures for people.
struct Spelling {
  const char* kind;
  const char* get;
  const char* text;
};

Spelling spelling_of(BaseType base) {
  switch (base) {
  case BaseType::kTensor: return {"Tensor", "tensor", "Tensor"};
  case BaseType::kInt:
  case BaseType::kSymInt:
  case BaseType::kDeviceIndex: return {"Int", "integer", "int"};
  case BaseType::kFloat: return {"Float", "real", "float"};
  case BaseType::kBool:
  case BaseType::kSymBool: return {"Bool", "boolean", "bool"};
  case BaseType::kStr: return {"String", "string", "str"};
  case BaseType::kScalar: return {"Scalar", "scalar", "Number"};
  case BaseType::kScalarType: return {"DType", "dtype", "dtype"};
  case BaseType::kLayout: return {"Layout", "layout", "layout"};
  case BaseType::kDevice: return {"Device", "device", "device"};
  case BaseType::kMemoryFormat: return {"MemoryFormat", "memory_format", "memory_format"};
  case BaseType::kGenerator: return {"Generator", "generator", "Generator"};
  default: break;
  }
  return {"", "", ""};
}

/// The argument as the tables of Python's argument parser know it; null for a type that Python does
/// not pass.
Json emit_parameter(const schema::Argument& argument, const Json& emitted) {
  const Type& type = argument.type;
  const Type plain = type.without_optional();
  const Spelling spelling = spelling_of(type.base);
  if (!*spelling.kind) return nullptr;
  std::string kind = spelling.kind, get = spelling.get, text = spelling.text;
  const bool elements_optional = plain.is_list() && plain.element().is_optional();
  if (plain.is_list()) {
    kind = (elements_optional ? "Optional" : "") + kind + "List";
    get = (elements_optional ? "optional_" : "") + get + "s";
    text = "tuple of " + text + "s";
  }
  if (type.is_optional()) get = "optional_" + get;
  std::string fallback = emitted["default"].get<std::string>();
  const bool none = fallback == "::std::nullopt" || (type.is_optional() && fallback == "{}");
  if (none) fallback.clear();
  if (plain.is_list() && !fallback.empty() && fallback[0] != '{') fallback = "{" + fallback + "}";
  return {{"name", argument.name == "self" ? "input" : argument.name},
          {"argument", argument.name},
          {"kind", kind},
          {"read", get},
          {"text", type.is_optional() ? text + "?" : text},
          {"optional", type.is_optional()},
          {"has_default", argument.default_value.has_value()},
          {"default", fallback},
          {"default_text", argument.default_value ? argument.default_value->text : ""},
          {"size", type.list_size().value_or(0)},
          {"mutable", argument.is_mutable()},
          {"keyword_only", argument.kwarg_only},
          {"fixed", plain.is_list() && type.base == BaseType::kBool}};
}

/// "(Tensor input, Number other, *, Number alpha=1) -> Tensor"
std::string signature_text(const Json& parameters, size_t positional, const std::string& results) {
  std::string text = "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Json& p = parameters[i];
    if (i) text += ", ";
    if (i == positional) text += "*, ";
    text += p["text"].get<std::string>() + " " + p["name"].get<std::string>();
    if (p["has_default"].get<bool>()) text += "=" + p["default_text"].get<std::string>();
  }
  return text + ") -> " + results;
}

std::string results_text(const schema::FunctionSchema& schema) {
  const auto one = [](const schema::Return& r) {
    const std::string text = spelling_of(r.type.base).text;
    return r.type.is_list() ? "tuple of " + text + "s" : text;
  };
  if (schema.returns.empty()) return "None";
  if (schema.returns.size() == 1) return one(schema.returns[0]);
  std::string text = "(";
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const auto& r = schema.returns[i];
    text += (i ? ", " : "") + one(r) + (r.name.empty() ? "" : " " + r.name);
  }
  return text + ")";
}

}  // namespace

Json emit_python_call(const schema::FunctionSchema& schema, const Json& form,
                      const std::string& cpp_namespace, const std::string& module) {
  Json parameters = Json::array(), arguments = Json::array(), names = Json::array();
  Json outs = Json::array();
  size_t positional = 0;
  int self = -1;
  const bool is_out = schema.is_out();
  // In Python `out` is a tensor or a tuple of some, not as many as there happen to be.
  for (const schema::Argument* out : schema.out_args()) {
    if (is_out && out->type.is_tensor_list()) return nullptr;
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    Json p = emit_parameter(schema.args[i], form["arguments"][i]);
    if (p.is_null()) return nullptr;
    if (is_out && p["mutable"].get<bool>() && p["keyword_only"].get<bool>()) {
      outs.push_back(i);
      arguments.push_back({{"read", "out"}, {"default", std::to_string(outs.size() - 1)}});
      continue;
    }
    if (schema.args[i].name == "self") self = static_cast<int>(parameters.size());
    if (!p["keyword_only"].get<bool>()) ++positional;
    std::string get = p["read"];
    if (p["mutable"].get<bool>() && get == "tensor") get = "mutable_tensor";
    if (p["fixed"].get<bool>()) get += "<" + std::to_string(p["size"].get<int64_t>()) + ">";
    arguments.push_back({{"read", get}, {"default", p["default"]}, {"at", parameters.size()}});
    parameters.push_back(std::move(p));
  }
  const size_t out_at = parameters.size();
  if (is_out) {
    for (Json& a : arguments) {
      if (a["read"] == "out") a["at"] = out_at;
    }
    const bool several = outs.size() > 1;
    parameters.push_back({{"name", "out"},
                          {"kind", "Out"},
                          {"text", several ? "tuple of Tensors" : "Tensor"},
                          {"optional", false},
                          {"has_default", false},
                          {"size", outs.size()}});
  }
  const std::optional<size_t> options = schema.tensor_options();
  const bool with_grad = options.has_value();
  // The arguments of a factory's form with `out` that must agree.
  Json checked = nullptr;
  if (options && is_out) checked = {{"dtype", *options}, {"out", outs[0]}};
  if (with_grad) {
    parameters.push_back({{"name", "requires_grad"},
                          {"kind", "Bool"},
                          {"text", "bool"},
                          {"optional", false},
                          {"has_default", true},
                          {"default_text", "False"},
                          {"size", 0}});
  }
  bool named = schema.returns.size() > 1;
  Json return_kinds = Json::array();
  for (const auto& r : schema.returns) {
    return_kinds.push_back(std::string(spelling_of(r.type.base).kind) +
                           (r.type.is_list() ? "List" : ""));
    named = named && !r.name.empty();
    names.push_back(r.name);
  }
  const std::string return_type = form["return_type"];
  const bool again = return_type == "tenon::Tensor&";
  return {{"ident", form["ident"]},
          {"name", form["name"]},
          {"schema", form["schema"]},
          {"namespace", cpp_namespace},
          {"module", module},
          {"signature", signature_text(parameters, positional, results_text(schema))},
          {"return_kinds", return_kinds},
          {"parameters", parameters},
          {"arguments", arguments},
          {"positional", positional},
          {"self", self},
          {"out", is_out},
          // What an operator writes and returns is the object that the caller gave.
          {"again", is_out  ? static_cast<int>(out_at)
                    : again ? 0
                            : -1},
          {"requires_grad", with_grad ? static_cast<int>(parameters.size()) - 1 : -1},
          {"checked", checked},
          {"returns", return_type == "void" ? "nothing"
                      : named               ? "named"
                                            : "value"},
          {"names", named ? names : Json::array()},
          {"function", form["function"]},
          {"method", form["method"].get<bool>() && !is_out && self >= 0}};
}

Json emit_python(const Json& operators, const std::vector<size_t>& members) {
  Json calls = Json::array();
  std::map<std::tuple<bool, std::string, std::string>, Json> functions;  // method, module, name
  // First what makes a result, then the forms with `out`, so that messages list them that way.
  for (const bool out : {false, true}) {
    for (size_t at : members) {
      const Json& op = operators[at];
      for (const Json& form : op["forms"]) {
        if ((form["kind"] == "out") != out) continue;
        Json call = form["python"];
        if (call.is_null()) continue;
        const auto add = [&](bool method) {
          const std::string name = call["name"],
                            module = method ? "" : call["module"].get<std::string>();
          Json& function = functions[{method, module, name}];
          if (function.is_null()) {
            function = {
                {"name", name},           {"module", module},
                {"method", method},       {"ident", (method ? "method_" : "function_") + name},
                {"calls", Json::array()}, {"expression", Json::array()}};
            if (op.contains("expression")) function["expression"] = op["expression"];
          }
          function["calls"].push_back(call["ident"]);
        };
        if (call["function"].get<bool>()) add(false);
        if (call["method"].get<bool>()) add(true);
        calls.push_back(std::move(call));
      }
    }
  }
  Json list = Json::array();
  for (auto& [key, function] : functions) list.push_back(std::move(function));
  return {{"calls", std::move(calls)}, {"functions", std::move(list)}};
}

}  // namespace tenon::codegen
