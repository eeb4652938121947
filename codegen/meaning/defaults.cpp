#include "codegen/meaning/defaults.h"

#include <algorithm>
#include <cctype>

#include "codegen/expr/graph/infer.h"
#include "codegen/meaning/expression.h"
#include "codegen/model/variants.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen {

namespace {

using schema::Argument;
using schema::FunctionSchema;
using schema::SchemaKind;

bool is_private(const FunctionSchema& schema) {
  return !schema.ns.empty() || schema.name.starts_with("_") || schema.name.ends_with("_backward");
}

// `rand`, `randn_like`, `bernoulli_randint`, but neither `operand` nor `grand_total`.
bool has_rand(const std::string& text) {
  for (size_t at = text.find("rand"); at != std::string::npos; at = text.find("rand", at + 1)) {
    if (at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0) return true;
  }
  return false;
}

bool has_dropout(const std::string& text) { return text.find("dropout") != std::string::npos; }

/// The types of each output for one category; empty where it is not computed.
std::vector<expr::TypeInfo> types_for(const Operator& op, const std::string& category) {
  const auto cases = pointwise_cases_for(op, category);
  if (cases.empty()) return {};
  const expr::ParseResult parsed = parse_cases(op, cases, category);
  if (!parsed.ok()) return {};
  std::vector<expr::TypeInfo> types;
  for (const expr::NodeId output : parsed.expression.outputs) {
    types.push_back(expr::infer_types(parsed.expression.graph, output));
    if (!expr::serves(types.back(), category)) return {};
  }
  return types;
}

/// Some output is a number of this category.
bool computes_numbers(const Operator& op, const std::string& category) {
  const std::vector<expr::TypeInfo> types = types_for(op, category);
  return std::any_of(types.begin(), types.end(),
                     [](const expr::TypeInfo& info) { return info.promotion != Promotion::kBool; });
}

}  // namespace

std::string kernel_name(const FunctionSchema& schema, std::string_view key) {
  std::string name = schema.name;
  const bool inplace = name.size() > 1 && name.ends_with("_") && !schema.is_dunder();
  if (inplace) name.pop_back();
  if (!schema.overload.empty()) name += "_" + schema.overload;
  if (!key.starts_with("Composite")) {
    name += "_";
    for (const char c : key) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return inplace ? name + "_" : name;
}

VariantSet default_variants(const Operator& op) {
  VariantSet set;
  set.function = true;
  const FunctionSchema& schema = op.schema;
  if (!op.uses_tenon_keys() || is_private(schema) || schema.kind() != SchemaKind::kFunctional) {
    return set;
  }
  const Argument* self = schema.self();
  set.method = self != nullptr && self->type.is_tensor() && !op.python_module;
  set.inplace = op.as<Pointwise>() && set.method && derive_inplace(schema);
  set.out = (op.as<Pointwise>() || op.is<Structured>()) && derive_out(schema, out_overload(op));
  return set;
}

std::string_view module_of(const FunctionSchema& schema) {
  if (is_private(schema)) return {};
  for (const std::string_view module : {"special", "linalg", "fft"}) {
    if (schema.name.starts_with(module) && schema.name[module.size()] == '_') return module;
  }
  return {};
}

Randomness randomness(const FunctionSchema& schema) {
  Randomness result;
  for (const Argument& arg : schema.args) {
    if (arg.type.base != schema::BaseType::kGenerator) continue;
    result.generator = &arg;
    return result;
  }
  // A random key that is an argument makes the result a function of the arguments.
  const Argument* key = schema.find_arg("key");
  if (key != nullptr && key->type.is_tensor()) return result;
  const std::string name = schema.full_name();
  // The gradient of dropout has its mask.
  const bool drops =
      name.find("backward") == std::string::npos &&
      (has_dropout(name) || std::any_of(schema.args.begin(), schema.args.end(),
                                        [](const Argument& arg) { return has_dropout(arg.name); }));
  result.by_name = drops || has_rand(name);
  return result;
}

std::vector<std::string> served_dtypes(const Operator& op) {
  std::vector<std::string> served;
  for (const std::string& category : pointwise_categories()) {
    if (!types_for(op, category).empty()) served.push_back(category);
  }
  return served;
}

bool has_no_gradient(const Operator& op) {
  const FunctionSchema& schema = op.schema;
  if (schema.kind() != SchemaKind::kFunctional || op.is_composite_implicit()) return false;
  const auto holds_tensors = [](const auto& item) { return item.type.holds_tensors(); };
  if (std::none_of(schema.args.begin(), schema.args.end(), holds_tensors) ||
      std::none_of(schema.returns.begin(), schema.returns.end(), holds_tensors)) {
    return true;
  }
  if (!op.as<Pointwise>() || !op.as<Pointwise>()->complete) return false;
  if (op.has_key("promote")) return op.promotion == Promotion::kBool;
  return !computes_numbers(op, "floating") && !computes_numbers(op, "complex");
}

}  // namespace tenon::codegen
