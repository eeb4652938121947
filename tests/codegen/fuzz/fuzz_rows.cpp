// libFuzzer target: a text as an expression of `rowwise`, with its derivative and both schedules.
#include "codegen/expr/graph/graph_builder.h"
#include "codegen/expr/rows/differentiate_rows.h"
#include "codegen/expr/rows/row_schedule.h"
#include "tests/codegen/fuzz/check.h"

using namespace tenon::codegen;
using expr::Domain;
using expr::NodeKind;
using expr::RowOutput;

namespace {

void schedule(expr::Graph& graph, const std::vector<expr::NodeId>& nodes) {
  std::vector<RowOutput> kinds;
  for (const expr::NodeId node : nodes) {
    kinds.push_back(graph[node].domain == Domain::kElement ? RowOutput::kElement : RowOutput::kRow);
  }
  for (const expr::DearValues dear : {expr::DearValues::kSpilled, expr::DearValues::kRepeated}) {
    const expr::RowSchedule made = expr::schedule_rows(graph, nodes, kinds, dear);
    require(!made.steps.empty(), "a kernel without steps");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  expr::Expression expression;
  expr::Graph& graph = expression.graph;
  expr::GraphBuilder::Names names;
  const auto declare = [&](const std::string& name, NodeKind kind, Domain domain) {
    names[name] = graph.variable(kind, name, 0, domain);
    const bool tensor = kind == NodeKind::kTensor;
    expression.parameters.push_back({name, tensor, tensor && name != "target"});
  };
  declare("self", NodeKind::kTensor, Domain::kElement);
  declare("weight", NodeKind::kTensor, Domain::kElement);
  declare("target", NodeKind::kTensor, Domain::kRow);
  declare("scale", NodeKind::kTensor, Domain::kRow);
  declare("eps", NodeKind::kScalar, Domain::kScalar);
  std::vector<expr::ExprError> errors;
  expr::AbsentOperands absent;
  absent.names = {"weight"};
  const auto node = expr::GraphBuilder(graph, names, {.rows = true, .absent = &absent})
                        .add(as_text(data, size), errors);
  require(node.has_value() == errors.empty(), "a value beside errors, or neither");
  if (!node || graph[*node].domain == Domain::kScalar) return 0;
  expression.outputs = {*node};
  schedule(graph, expression.outputs);
  const expr::RowDerivative derivative = expr::differentiate_rows(expression);
  if (!derivative.errors.empty()) return 0;
  std::vector<expr::NodeId> gradients;
  for (const expr::RowGradient& gradient : derivative.gradients) gradients.push_back(gradient.node);
  schedule(graph, gradients);
  return 0;
}
