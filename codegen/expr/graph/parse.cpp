#include "codegen/expr/graph/parse.h"

#include "codegen/expr/graph/graph_builder.h"

namespace tenon::codegen::expr {

ParseResult parse_expressions(const std::vector<std::string>& texts,
                              const std::vector<Parameter>& parameters, const Functions& functions,
                              const std::string& category, const std::string& of,
                              const std::vector<std::string>& output_names) {
  ParseResult result;
  Graph& graph = result.expression.graph;
  std::vector<Draw>& draws = result.expression.draws;
  result.expression.parameters = parameters;
  GraphBuilder::Names names;
  AbsentOperands absent;
  for (const Parameter& parameter : parameters) {
    names[parameter.name] = parameter.is_tensor ? graph.variable(NodeKind::kTensor, parameter.name)
                                                : graph.number(parameter.name, parameter.floating);
    if (parameter.optional) absent.names.insert(parameter.name);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t before = result.errors.size(), drawn = draws.size();
    GraphBuilder builder(
        graph, names,
        {.shared = &functions, .category = category, .absent = &absent, .draws = &draws},
        of.empty() ? std::vector<std::string>{} : std::vector{of});
    const auto node = builder.add(texts[i], result.errors);
    for (std::size_t j = before; j < result.errors.size(); ++j) result.errors[j].text_index = i;
    for (std::size_t j = drawn; j < draws.size(); ++j) draws[j].text_index = i;
    if (node) result.expression.outputs.push_back(*node);
    // After an error the name still counts as known.
    if (i < output_names.size()) names[output_names[i]] = node.value_or(graph.integer(0));
  }
  result.expression.defaults = std::move(absent.defaults);
  return result;
}

ParseResult parse_expression(const std::string& text, const std::vector<Parameter>& parameters,
                             const Functions& functions) {
  return parse_expressions({text}, parameters, functions);
}

}  // namespace tenon::codegen::expr
