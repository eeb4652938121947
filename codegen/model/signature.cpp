#include "codegen/model/signature.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

using schema::Alias;
using schema::Argument;
using schema::FunctionSchema;
using schema::Return;
using schema::SchemaKind;

constexpr std::string_view kFunctionalSuffix = "_functional";

// The name without what tells the forms apart: "add" of add_, "__and__" of __iand__, "f" of
// f_functional.
std::string stem(const FunctionSchema& schema) {
  std::string base = schema.base_name();
  if (schema.is_dunder()) return std::string("__").append(base).append("__");
  if (base.ends_with(kFunctionalSuffix)) base.resize(base.size() - kFunctionalSuffix.size());
  return base;
}

bool is_out(const Argument& arg) { return arg.kwarg_only && arg.is_mutable(); }

bool is_returned(const Argument& arg, const FunctionSchema& schema) {
  return std::any_of(schema.returns.begin(), schema.returns.end(),
                     [&](const Return& ret) { return ret.alias == arg.alias; });
}

// Written arguments in the order in which they become returns: self, out arguments, the others.
std::vector<const Argument*> written_and_not_returned(const FunctionSchema& schema) {
  std::vector<const Argument*> first, outs, rest;
  for (const Argument& arg : schema.args) {
    if (!arg.is_mutable() || is_returned(arg, schema)) continue;
    (&arg == schema.self() ? first : is_out(arg) ? outs : rest).push_back(&arg);
  }
  first.insert(first.end(), outs.begin(), outs.end());
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

// Out forms of factories take dtype and device from `out`.
void drop_tensor_options(FunctionSchema& schema) {
  if (const std::optional<size_t> dtype = schema.tensor_options()) {
    const auto first = schema.args.begin() + static_cast<std::ptrdiff_t>(*dtype);
    schema.args.erase(first, first + 4);
  }
}

// No writes: results are returned.
FunctionSchema functional(const FunctionSchema& schema) {
  FunctionSchema result = schema;
  result.name = stem(schema);
  for (const Argument* arg : written_and_not_returned(schema)) {
    Return ret;
    ret.type = arg->type;
    ret.name = arg->name + "_out";
    result.returns.push_back(std::move(ret));
  }
  std::erase_if(result.args, is_out);
  drop_tensor_options(result);
  for (Argument& arg : result.args) arg.alias.reset();
  for (Return& ret : result.returns) ret.alias.reset();
  return result;
}

std::string out_overload_of(const FunctionSchema& schema) {
  return schema.overload.empty() ? "out" : schema.overload + "_out";
}

// The i-th letter that no argument of the schema uses.
std::optional<Alias> free_alias(const FunctionSchema& schema, size_t i) {
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    const bool used = std::any_of(schema.args.begin(), schema.args.end(), [&](const Argument& arg) {
      return arg.alias && std::find(arg.alias->before.begin(), arg.alias->before.end(), letter) !=
                              arg.alias->before.end();
    });
    if (used || i-- > 0) continue;
    Alias alias;
    alias.before = {letter};
    alias.is_write = true;
    return alias;
  }
  return std::nullopt;
}

FunctionSchema out_of_inplace(const FunctionSchema& schema) {
  FunctionSchema result = schema;
  Argument& self = result.args[static_cast<size_t>(schema.arg_index("self"))];
  Argument out;
  out.type = self.type;
  out.alias = self.alias;
  out.name = "out";
  out.kwarg_only = true;
  self.alias.reset();
  result.args.push_back(std::move(out));
  return result;
}

}  // namespace

FunctionSchema signature(const FunctionSchema& schema) {
  FunctionSchema result = functional(schema);
  result.overload.clear();
  for (Argument& arg : result.args) arg.default_value.reset();
  for (Return& ret : result.returns) ret.name.clear();
  return result;
}

FunctionSchema view_signature(const FunctionSchema& schema) {
  FunctionSchema result = signature(schema);
  constexpr std::string_view kCopy = "_copy";
  constexpr std::string_view kScatter = "_scatter";
  if (result.name.ends_with(kCopy)) {
    result.name.resize(result.name.size() - kCopy.size());
  } else if (result.name.ends_with(kScatter)) {  // slice_scatter copies what slice_inverse views
    result.name.replace(result.name.size() - kScatter.size(), kScatter.size(), "_inverse");
  }
  return result;
}

FunctionSchema autogen_functional(const FunctionSchema& schema) {
  FunctionSchema result = functional(schema);
  if (schema.kind() == SchemaKind::kMutable) result.name += kFunctionalSuffix;
  return result;
}

std::optional<FunctionSchema> autogen_out(const FunctionSchema& schema) {
  FunctionSchema result;
  if (schema.kind() == SchemaKind::kInplace) {
    if (schema.self() == nullptr) return std::nullopt;
    result = out_of_inplace(schema);
  } else {
    result = schema.kind() == SchemaKind::kMutable ? schema : functional(schema);
    result.returns.clear();
    const bool all_tensors = std::all_of(schema.returns.begin(), schema.returns.end(),
                                         [](const Return& ret) { return ret.type.is_tensor(); });
    size_t outs = 0;
    for (size_t i = 0; i < schema.returns.size(); ++i) {
      const Return& ret = schema.returns[i];
      if (!ret.type.holds_tensors()) {
        result.returns.push_back(ret);
        continue;
      }
      Argument out;
      out.type = ret.type;
      out.alias = free_alias(schema, i);
      out.name = schema.returns.size() == 1 ? "out" : "out" + std::to_string(i);
      out.kwarg_only = true;
      if (!out.alias) return std::nullopt;
      if (all_tensors) {
        Return returned;
        returned.type = ret.type;
        returned.alias = out.alias;
        result.returns.push_back(std::move(returned));
      }
      result.args.push_back(std::move(out));
      ++outs;
    }
    if (outs == 0) return std::nullopt;
  }
  result.name = stem(schema);
  result.overload = out_overload_of(schema);
  return result;
}

}  // namespace tenon::codegen
