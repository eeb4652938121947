#include "codegen/meaning/operands.h"

#include <algorithm>

#include "codegen/expr/formulas/token.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen {

bool is_number(const schema::Type& type) {
  using schema::BaseType;
  for (const BaseType base : {BaseType::kScalar, BaseType::kFloat, BaseType::kInt,
                              BaseType::kSymInt, BaseType::kBool, BaseType::kSymBool}) {
    if (type.is(base)) return true;
  }
  return false;
}

bool uses_name(const std::string& text, const std::string& name) {
  std::vector<expr::ExprError> errors;
  for (const expr::Token& token : expr::tokenize(text, errors)) {
    if (token.kind == expr::TokenKind::kName && token.text == name) return true;
  }
  return false;
}

bool is_used_behind(const NamedExpressions& spec, size_t part, const std::string& name) {
  return std::any_of(
      spec.parts.begin() + static_cast<std::ptrdiff_t>(part) + 1, spec.parts.end(),
      [&](const NamedExpressions::Part& later) { return uses_name(later.expression.text, name); });
}

std::string hint_of_part(const std::string& name, const schema::FunctionSchema& schema) {
  if (contains(pointwise_categories(), name))
    return ": only `pointwise` of new results has an expression for each category of dtypes";
  std::string names;
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    if (!schema.returns[i].name.empty() || schema.returns[i].alias) return "";
    names += (i == 0 ? "`" : ", `") + schema.return_name(i) + "`";
  }
  return std::string(": the schema does not name its result") +
         (schema.returns.size() > 1 ? "s, " : ", ") + names;
}

}  // namespace tenon::codegen
