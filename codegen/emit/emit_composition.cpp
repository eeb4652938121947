#include "codegen/emit/emit_composition.h"

#include <algorithm>
#include <set>

#include "codegen/expr/formulas/composition.h"
#include "codegen/expr/formulas/formula_names.h"
#include "codegen/expr/formulas/formula_pointwise.h"
#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/constants.h"
#include "codegen/expr/graph/print_readable.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/plain_functions.h"
#include "codegen/model/foreach.h"

namespace tenon::codegen {

namespace {

std::vector<ir::List> emit_lists(const schema::FunctionSchema& schema,
                                 const std::set<std::string>& conditional) {
  std::vector<ir::List> lists;
  for (const schema::Argument& argument : schema.args) {
    if (!is_taken_apart(argument.type)) continue;
    lists.push_back({argument.name, cpp_owned_type(argument.type.element()), argument.is_mutable(),
                     conditional.contains(argument.name)});
  }
  return lists;
}

/// `narrow` of narrow.Tensor, `linalg.norm` of linalg_norm.
std::string name_in_errors(const Operator& op) {
  std::string name = op.error_name();
  name.resize(std::min(name.find('.'), name.size()));
  const std::string module = op.python_module ? op.python_module->text : "";
  if (!module.empty() && name.starts_with(module + "_")) name[module.size()] = '.';
  return name;
}

}  // namespace

std::optional<ir::Composition> emit_composition(const Operator& op) {
  if (!op.composition()) return std::nullopt;
  const std::optional<Fusion>& fusion = op.composition()->fusion;
  const bool partitioned = fusion && !fusion->text.empty();
  const auto parse = [&](const std::string& text) {
    return with_plain_functions(op, expr::parse_formula(text).formula);
  };
  const expr::Formula code = parse(partitioned ? fusion->text : op.composition()->text.text);
  const schema::FunctionSchema schema = op.is<Foreach>() ? element_schema(op.schema) : op.schema;
  const std::vector<std::string> optional = optional_names(schema);
  ir::Composition result;
  expr::Renaming renamed;
  if (op.is<Foreach>()) {
    result.lists = emit_lists(op.schema, conditional_lists(op.schema, code));
    for (const ir::List& one : result.lists) {
      if (one.conditional) renamed[one.name] = "present_(" + one.name + ", \"" + one.name + "\")";
    }
  }
  for (const EnumArgument& one : op.composition()->words)
    result.words.push_back({one.name, one.words});
  result.calls_helpers = !op.composition()->words.empty();
  std::set<std::string> used;
  for (const expr::NameUse& use : expr::free_names(code)) used.insert(use.name);
  for (const std::string& name : used) {
    const expr::NamedConstant* constant = expr::find_named_constant(name);
    if (constant != nullptr && op.schema.find_arg(name) == nullptr) renamed[name] = constant->cpp;
  }
  const auto in_cpp = [&](const expr::Formula& tree) {
    expr::Formula read = expr::read_optionals(tree, optional);
    for (const std::string& name : expr::called_functions(read))
      result.calls_helpers |= name == "value_or" || name.starts_with("tenon::native::");
    return expr::with_meaning_in_cpp(std::move(read), name_in_errors(op));
  };
  const auto text = [&](const expr::Formula& tree) { return expr::print_formula(tree, renamed); };
  const expr::Formula whole = in_cpp(code);
  const expr::Formula* rest = &whole;
  for (; expr::has_rest(*rest); rest = &rest->children[1])
    result.locals.push_back({rest->text, text(rest->children[0])});
  result.result = text(*rest);
  if (op.is<Foreach>() && op.variants.inplace) {
    const expr::Formula* last = &code;
    while (expr::has_rest(*last)) last = &last->children[1];
    result.inplace = text(in_cpp(*written_to_self(op, *last)));
  }
  if (op.overload_set()) {
    for (const auto& [from, to] : {std::pair(&op.overload_set()->inplace, &result.inplace),
                                   std::pair(&op.overload_set()->out, &result.out)}) {
      if (!from->empty()) *to = text(in_cpp(expr::parse_formula(*from).formula));
    }
  }
  for (const std::string& name : expr::called_functions(code))
    expr::append_new(result.operators, name);
  if (fusion && !fusion->guard.empty()) {
    result.guard = text(in_cpp(parse(fusion->guard)));
    result.fused = text(in_cpp(parse(fusion->call)));
    result.calls_helpers = true;
    for (const Fusion::Part& part : fusion->parts) expr::append_new(result.operators, part.kernel);
  }
  for (const Fusion::Part& part : fusion ? fusion->parts : std::vector<Fusion::Part>())
    result.parts.push_back({part.kernel, part.num_operators, part.traffic, part.unfused_traffic});
  for (const schema::Argument& argument : op.schema.args) {
    if (!used.contains(argument.name)) result.unused.push_back(argument.name);
  }
  const bool plain = !op.is<Foreach>() && op.schema.returns.size() == 1 &&
                     op.schema.returns[0].type.is_tensor() && !op.schema.is_view();
  if (plain && !fusion && code.kind != expr::FormulaKind::kName) {
    if (const auto fused =
            expr::to_pointwise(code, pointwise_parameters(op.schema), functions_of(op))) {
      result.kernel = expr::print_readable(fused->graph, fused->outputs[0]);
    }
  }
  return result;
}

}  // namespace tenon::codegen
