#include "codegen/expr/parse.h"

#include "codegen/expr/expression_parser.h"

namespace tenon::codegen::expr {

ParseResult parse_expressions(const std::vector<std::string>& texts,
                              const std::vector<Parameter>& parameters, const Functions& functions,
                              const std::string& category, const std::string& of) {
  ParseResult result;
  Graph& graph = result.expression.graph;
  result.expression.parameters = parameters;
  ExpressionParser::Names names;
  for (const Parameter& parameter : parameters)
    names[parameter.name] =
        graph.variable(parameter.is_tensor ? NodeKind::kTensor : NodeKind::kScalar, parameter.name);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t before = result.errors.size();
    ExpressionParser parser(graph, names, {.shared = &functions, .category = category},
                            of.empty() ? std::vector<std::string>{} : std::vector{of});
    const auto node = parser.parse(texts[i], result.errors);
    for (std::size_t j = before; j < result.errors.size(); ++j) result.errors[j].text_index = i;
    if (node) result.expression.outputs.push_back(*node);
  }
  return result;
}

ParseResult parse_expression(const std::string& text, const std::vector<Parameter>& parameters,
                             const Functions& functions) {
  return parse_expressions({text}, parameters, functions);
}

}  // namespace tenon::codegen::expr
