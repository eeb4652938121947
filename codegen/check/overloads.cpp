#include "codegen/check/overloads.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

/// How C++ converts each argument; nothing where the overload does not take them.
std::optional<std::vector<ValueType::Conversion>>
conversions(const Overload& overload, const std::vector<ValueType>& arguments) {
  const auto& parameters = overload.parameters;
  if (arguments.size() > parameters.size()) return std::nullopt;
  std::vector<ValueType::Conversion> all;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i >= arguments.size()) {
      if (!parameters[i].has_default) return std::nullopt;
      continue;
    }
    const auto one = arguments[i].conversion_to(parameters[i].type, parameters[i].is_options);
    if (!one) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

/// Whether C++ prefers `a`: no argument converts worse, and one better.
bool beats(const std::vector<ValueType::Conversion>& a,
           const std::vector<ValueType::Conversion>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return a != b;
}

}  // namespace

std::vector<std::string> names_of(const Overloads& overloads) {
  std::vector<std::string> names;
  for (const auto& [name, some] : overloads) names.push_back(name);
  // The first of several equally near names is suggested: not one by chance.
  std::sort(names.begin(), names.end());
  return names;
}

Overload overload_of(const Operator& op, const VariantSchema& form, bool method) {
  Overload overload{&op, &form, {}, method ? form.schema.self() : nullptr};
  const schema::FunctionSchema& schema = form.schema;
  const std::optional<size_t> options = schema.tensor_options();
  const auto is_out = [](const schema::Argument& arg) {
    return arg.kwarg_only && arg.is_mutable();
  };
  for (const schema::Argument& arg : schema.args) {
    if (is_out(arg)) overload.parameters.push_back({.type = arg.type, .argument = &arg});
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const schema::Argument& arg = schema.args[i];
    if (is_out(arg) || &arg == overload.object) continue;
    const bool folded = options && i >= *options && i < *options + 4;
    if (folded && i > *options) continue;
    const bool required =
        std::any_of(op.cpp_no_default_args.begin(), op.cpp_no_default_args.end(),
                    [&](const LocatedName& name) { return name.text == arg.name; });
    overload.parameters.push_back({.type = arg.type,
                                   .is_options = folded,
                                   .has_default = arg.default_value.has_value() && !required,
                                   .argument = &arg});
  }
  return overload;
}

bool takes(const Overload& overload, const std::vector<ValueType>& arguments) {
  const auto& parameters = overload.parameters;
  if (arguments.size() > parameters.size()) return false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i >= arguments.size()) {
      if (!parameters[i].has_default) return false;
    } else if (!arguments[i].converts_to(parameters[i].type, parameters[i].is_options)) {
      return false;
    }
  }
  return true;
}

std::vector<const Overload*> preferred(const std::vector<Overload>& overloads,
                                       const std::vector<ValueType>& arguments) {
  std::vector<std::pair<const Overload*, std::vector<ValueType::Conversion>>> all;
  for (const Overload& overload : overloads) {
    if (auto how = conversions(overload, arguments)) all.emplace_back(&overload, std::move(*how));
  }
  std::vector<const Overload*> best;
  for (const auto& [overload, how] : all) {
    const bool beaten = std::any_of(all.begin(), all.end(), [&how = how](const auto& other) {
      return beats(other.second, how);
    });
    if (!beaten) best.push_back(overload);
  }
  return best;
}

ValueType result_of(const std::vector<const Overload*>& overloads) {
  std::optional<ValueType> result;
  for (const Overload* overload : overloads) {
    std::vector<ValueType> results;
    for (const schema::Return& one : overload->form->schema.returns) results.emplace_back(one.type);
    ValueType type = results.size() == 1 ? results[0] : ValueType::tuple(std::move(results));
    if (result && *result != type) return {};
    result = std::move(type);
  }
  return result.value_or(ValueType());
}

bool shares_memory(const Overload& overload, const schema::Argument& argument) {
  if (!argument.alias) return false;
  const std::vector<schema::Return>& returns = overload.form->schema.returns;
  return std::any_of(returns.begin(), returns.end(), [&](const schema::Return& one) {
    return one.alias &&
           std::any_of(one.alias->before.begin(), one.alias->before.end(), [&](char set) {
             const std::vector<char>& sets = argument.alias->before;
             return std::find(sets.begin(), sets.end(), set) != sets.end();
           });
  });
}

}  // namespace tenon::codegen
