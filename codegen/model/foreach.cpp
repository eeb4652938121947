#include "codegen/model/foreach.h"

#include "codegen/expr/formulas/formula_names.h"

namespace tenon::codegen {
namespace {

using Kind = expr::FormulaKind;
using Tree = expr::Formula;

/// Names that are read whatever the conditions are.
std::set<std::string> always_read(const Tree& tree) {
  if (tree.kind == Kind::kName) return {tree.text};
  std::set<std::string> names;
  const bool chooses = tree.kind == Kind::kTernary;
  const bool first_only = chooses || tree.operation == "&&" || tree.operation == "||";
  for (const Tree& child : tree.children) {
    names.merge(always_read(child));
    if (first_only) break;
  }
  if (!chooses) return names;
  const std::set<std::string> otherwise = always_read(tree.children[2]);
  for (const std::string& name : always_read(tree.children[1])) {
    if (otherwise.contains(name)) names.insert(name);
  }
  return names;
}

bool is_self(const Tree& tree) { return tree.kind == Kind::kName && tree.text == "self"; }

/// The name of the function or method that is called with self first; empty where none is.
std::string called_with_self(const Tree& tree) {
  if (tree.kind != Kind::kCall) return {};
  const Tree& callee = tree.children[0];
  if (callee.kind == Kind::kMember && callee.operation == "." && is_self(callee.children[0]))
    return callee.text;
  const bool first = tree.children.size() > 1 && is_self(tree.children[1]);
  return first && callee.kind == Kind::kName ? callee.text : "";
}

}  // namespace

bool is_taken_apart(const schema::Type& type) {
  return type.is_tensor_list() || (type.base == schema::BaseType::kScalar && type.is_list() &&
                                   !type.is_optional() && type.suffixes.size() == 1);
}

schema::FunctionSchema element_schema(const schema::FunctionSchema& schema) {
  schema::FunctionSchema result = schema;
  for (schema::Argument& argument : result.args) {
    if (is_taken_apart(argument.type)) argument.type = argument.type.element();
  }
  result.returns.resize(1);
  result.returns[0].type = {};
  return result;
}

std::set<std::string> conditional_lists(const schema::FunctionSchema& schema, const Tree& tree) {
  const std::set<std::string> always = always_read(tree);
  std::set<std::string> conditional;
  for (const schema::Argument& argument : schema.args) {
    if (argument.type.is_tensor_list() && !always.contains(argument.name) &&
        expr::uses_name(tree, argument.name))
      conditional.insert(argument.name);
  }
  return conditional;
}

std::optional<Tree> written_to_self(const Operator& op, Tree tree) {
  if (expr::has_rest(tree)) {
    std::optional<Tree> rest = written_to_self(op, std::move(tree.children[1]));
    if (!rest) return std::nullopt;
    tree.children[1] = std::move(*rest);
    return tree;
  }
  const std::string name = called_with_self(tree);
  const size_t colons = name.rfind("::");
  const std::string plain = colons == std::string::npos ? name : name.substr(colons + 2);
  if (!op.plain_functions || !op.plain_functions->inplace.contains(plain)) return std::nullopt;
  Tree& callee = tree.children[0];
  callee.text = name + "_";
  if (callee.kind == Kind::kMember) {
    Tree self = std::move(callee.children[0]);
    callee.kind = Kind::kName;
    callee.operation.clear();
    callee.children.clear();
    tree.children.insert(tree.children.begin() + 1, std::move(self));
  }
  return tree;
}

}  // namespace tenon::codegen
