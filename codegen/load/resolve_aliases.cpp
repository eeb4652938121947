// What entries have of one another: aliases, and the functions that expressions call.

#include <cctype>

#include "codegen/load/loaders.h"
#include "codegen/meaning/operands.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen::detail {

namespace {

bool takes_values(const schema::Argument& argument) {
  return argument.type.is_tensor() || is_number(argument.type);
}

/// Why expressions cannot call an operator; empty where that is reported of its entry.
std::string why_opaque(const Operator& op) {
  if (op.as<Pointwise>() && op.schema.returns.size() > 1)
    return "gives several results, and an expression is one";
  if (op.overload_set())
    return "needs arguments that choose its expression, which a call in an expression leaves out";
  if (op.has_key("pointwise"))
    return op.as<Pointwise>() ? "takes more than tensors and numbers" : "";
  return "is an operator without `pointwise`, which code of elements cannot call: `composite` "
         "calls operators";
}

/// The operator that an alias is of, null where there is none.
const Operator* find_target(const std::vector<Operator>& operators, const Operator& alias) {
  const std::optional<LocatedName>& of = alias.as<AliasOf>()->of;
  for (const Operator& op : operators) {
    if (of && op.name() == of->text && !op.is<AliasOf>()) return &op;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> literal_of(const schema::Argument& argument) {
  if (!argument.default_value || argument.type.is_tensor()) return std::nullopt;
  const std::string& text = argument.default_value->text;
  if (text == "True") return "true";
  if (text == "False") return "false";
  const bool number = !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) ||
                                        text[0] == '-' || text[0] == '.');
  return number ? std::optional(text) : std::nullopt;
}

std::optional<expr::Function> function_of(const Operator& op) {
  if (!op.as<Pointwise>() || op.schema.returns.size() != 1) return std::nullopt;
  expr::Function function;
  function.name = op.base_name();
  function.op = op.name();
  for (const schema::Argument& argument : op.schema.args) {
    if (!takes_values(argument)) return std::nullopt;
    function.parameters.push_back(argument.name);
    function.numbers.push_back(!argument.type.is_tensor());
    function.floats.push_back(argument.type.without_optional().is(schema::BaseType::kFloat));
    if (std::optional<std::string> literal = literal_of(argument)) {
      function.defaults.push_back(std::move(*literal));
    } else {
      function.defaults.clear();
    }
  }
  const std::string output = op.schema.return_name(0);
  for (const std::string& category : pointwise_categories()) {
    const PointwiseCase* one = op.as<Pointwise>()->find(output, category, "cpu");
    if (one == nullptr) continue;
    if (one->category.empty()) {
      function.body = one->expression.text;
    } else {
      function.cases[category] = one->expression.text;
    }
  }
  return function;
}

void find_work(std::vector<Operator>& operators) {
  std::map<std::string, std::string> shown;  // by C++ namespace and base name
  const auto key = [](const Operator& op, const std::string& base) {
    return op.schema.ns + "::" + base;
  };
  for (const Operator& op : operators) {
    const std::string& name = op.schema.name;
    shown.emplace(key(op, op.base_name()),
                  op.schema.ns.empty() ? name : op.schema.ns + "::" + name);
  }
  for (Operator& op : operators) {
    const std::string base = op.base_name();
    if (!base.starts_with("_") || op.reports_as) continue;
    const auto found = shown.find(key(op, base.substr(1)));
    if (found != shown.end()) op.reports_as = found->second;
  }
}

void resolve_aliases(std::vector<Operator>& operators) {
  for (Operator& op : operators) {
    if (!op.is<AliasOf>()) continue;
    const Operator* of = find_target(operators, op);
    if (of == nullptr) continue;
    if (!op.has_key("variants")) {
      op.variants = of->variants;
      if (op.python_module) op.variants.method = op.variants.inplace = false;
      op.variants_location = op.location;
    }
    if (!op.out_name && op.variants.out) op.out_name = of->out_name;
    op.tags = of->tags;
  }
}

expr::Functions functions_of(const std::vector<Definition>& definitions,
                             const std::vector<Operator>& operators, const expr::Functions& base) {
  expr::Functions functions;
  for (const Definition& definition : definitions) {
    expr::Function function;
    function.name = definition.name.text;
    for (const LocatedName& parameter : definition.parameters) {
      function.parameters.push_back(parameter.text);
    }
    function.body = definition.body.text;
    functions.push_back(std::move(function));
  }
  for (const Operator& op : operators) {
    const Operator* target = op.is<AliasOf>() ? find_target(operators, op) : &op;
    if (target == nullptr) continue;
    expr::Functions made;
    if (const OverloadSet* set = target->overload_set()) made = set->functions;
    if (std::optional<expr::Function> function = function_of(*target))
      made.push_back(std::move(*function));
    if (made.empty()) {
      made.emplace_back();
      made.back().op = target->name();
      made.back().opaque = true;
      made.back().why_opaque = why_opaque(*target);
    }
    for (expr::Function& function : made) {
      function.name = op.base_name();
      functions.push_back(std::move(function));
    }
  }
  const size_t own = functions.size();
  functions.insert(functions.end(), base.begin(), base.end());
  for (size_t i = own; i < functions.size(); ++i) functions[i].of_base = true;
  expr::measure(functions, own);
  return functions;
}

}  // namespace tenon::codegen::detail
