#include "codegen/meaning/plain_functions.h"

#include <algorithm>

#include "codegen/expr/formulas/tensor_methods.h"
#include "codegen/model/variants.h"

namespace tenon::codegen {

const std::vector<std::string>& tensor_methods() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const expr::TensorMethod& method : expr::tensor_methods()) {
      if (method.ours) all.emplace_back(method.name);
    }
    return all;
  }();
  return names;
}

void add_plain_functions(const std::vector<Operator>& operators, PlainFunctions& functions) {
  for (const Operator& op : operators) {
    const bool takes_tensor =
        !op.schema.args.empty() &&
        (op.schema.args[0].type.is_tensor() || op.schema.args[0].type.is_optional_tensor());
    if (op.variants.method || op.schema.is_inplace()) functions.methods.insert(op.base_name());
    if (op.variants.inplace || op.schema.is_inplace()) functions.inplace.insert(op.base_name());
    if (op.variants.function && takes_tensor) functions.functions.insert(op.base_name());
  }
}

bool PlainFunctions::has(const std::string& name) const {
  const std::vector<std::string>& by_hand = tensor_methods();
  return functions.contains(name) && !methods.contains(name) &&
         std::find(by_hand.begin(), by_hand.end(), name) == by_hand.end();
}

expr::Formula with_plain_functions(const Operator& op, expr::Formula tree) {
  if (!op.plain_functions) return tree;
  for (expr::Formula& child : tree.children) child = with_plain_functions(op, std::move(child));
  using expr::FormulaKind;
  if (tree.kind != FormulaKind::kCall || tree.children[0].kind != FormulaKind::kMember ||
      tree.children[0].operation != "." || !op.plain_functions->has(tree.children[0].text))
    return tree;
  expr::Formula& callee = tree.children[0];
  expr::Formula object = std::move(callee.children[0]);
  // Its place is that of the function's name.
  const size_t end = callee.offset + callee.length;
  callee.length = callee.text.size();
  callee.offset = end - callee.length;
  callee.kind = FormulaKind::kName;
  callee.operation.clear();
  callee.children.clear();
  tree.children.insert(tree.children.begin() + 1, std::move(object));
  return tree;
}

}  // namespace tenon::codegen
