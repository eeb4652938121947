// The functional forms of operators that write to arguments, where `autogen` names them.

#include <algorithm>
#include <string>

#include "codegen/load/loaders.h"
#include "codegen/model/signature.h"
#include "codegen/model/variants.h"

namespace tenon::codegen::detail {

namespace {

using schema::Argument;
using schema::SchemaKind;

/// Tensors alone are copied. What is absent would have nothing to return.
bool can_copy(const Operator& op) {
  return std::all_of(op.schema.args.begin(), op.schema.args.end(), [](const Argument& argument) {
    return !argument.is_mutable() || argument.type.is_tensor();
  });
}

bool has_functional_form(const Operator& op) {
  const SchemaKind kind = op.schema.kind();
  return (kind == SchemaKind::kInplace || kind == SchemaKind::kMutable) && !op.is<AliasOf>() &&
         !op.is_view() && !op.manual_cpp_binding && !op.is_composite_implicit() && can_copy(op);
}

/// What copies the written arguments, calls the operator on the copies, and gives its results, then
/// the copies that it does not return.
std::string code_of(const schema::FunctionSchema& written) {
  const auto returned = [&](const Argument& argument) {
    return std::any_of(written.returns.begin(), written.returns.end(),
                       [&](const auto& one) { return one.alias == argument.alias; });
  };
  std::string copies, arguments, results;
  size_t num_results = 0;
  const auto give = [&](const std::string& result) {
    results += (num_results++ == 0 ? "" : ", ") + result;
  };
  const size_t num_returns = written.returns.size();
  for (size_t i = 0; i < num_returns; ++i) {
    give(num_returns == 1 ? "results_" : "std::get<" + std::to_string(i) + ">(results_)");
  }
  for (const Argument& argument : written.args) {
    std::string value = argument.name;
    if (argument.is_mutable()) {
      value += "_copy_";
      copies += "auto " + value + " = " + argument.name + ".clone(); ";
      if (!returned(argument)) give(value);
    }
    arguments += (arguments.empty() ? "" : ", ") + value;
  }
  const std::string call = written.name + "(" + arguments + "); ";
  return "[&]() { " + copies + (num_returns == 0 ? "" : "const auto results_ = ") + call +
         "return " + (num_results == 1 ? results : "std::make_tuple(" + results + ")") + "; }()";
}

Operator functional_form_of(const Operator& op, schema::FunctionSchema functional) {
  Operator made;
  made.schema = std::move(functional);
  made.schema_text = op.schema_text;
  made.location = op.location;
  for (const char* key : {"func", "composite", "variants"}) made.keys.push_back({key, op.location});
  made.variants_location = op.location;
  made.computation = Composition{{code_of(op.schema), op.location, {}}, true, {}, {}};
  made.python_module = op.python_module;
  made.tags.push_back({"generated", op.location});
  for (const LocatedName& tag : op.tags) {
    if (tag.text != "inplace_view") made.tags.push_back(tag);
  }
  return made;
}

}  // namespace

void derive_functional_forms(std::vector<Operator>& operators) {
  const size_t written = operators.size();
  for (size_t i = 0; i < written; ++i) {
    if (operators[i].autogen.empty() || !has_functional_form(operators[i])) continue;
    Operator made = functional_form_of(operators[i], autogen_functional(operators[i].schema));
    const auto out = derive_out(made.schema, out_overload(made));
    for (const LocatedName& asked : operators[i].autogen) {
      made.variants.function |= asked.text == made.schema.qualified_name();
      made.variants.out |= out && out->qualified_name() == asked.text;
    }
    const bool exists = std::any_of(operators.begin(), operators.end(),
                                    [&](const Operator& op) { return op.name() == made.name(); });
    const bool asked = made.variants.function || made.variants.out;
    made.variants.function = true;
    if (asked && !exists) operators.push_back(std::move(made));
  }
}

}  // namespace tenon::codegen::detail
