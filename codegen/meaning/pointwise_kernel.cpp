#include "codegen/meaning/pointwise_kernel.h"

#include "codegen/expr/graph/infer.h"
#include "codegen/meaning/expression.h"

namespace tenon::codegen {

MixedResults mixed_results(const Operator& op) {
  MixedResults mixed;
  const std::optional<expr::Expression> expression =
      op.as<Pointwise>() ? differentiable_expression(op) : std::nullopt;
  if (!expression) return mixed;
  const size_t n = expression->outputs.size();
  for (size_t i = 0; i < n; ++i) {
    const expr::NodeId output = expression->outputs[i];
    mixed.floating |= expr::infer_types(expression->graph, output).computes_floating;
    if (expression->graph[output].value_kind == expr::ValueKind::kMask) mixed.masks |= 1u << i;
  }
  // `promote` says one dtype for all results.
  const bool all = expression->draws.empty() && mixed.masks == (1u << n) - 1;
  if (all || op.has_key("promote")) mixed.masks = 0;
  for (const expr::Draw& draw : expression->draws) {
    mixed.functions.push_back(draw.function);
    mixed.drawn.push_back(expression->graph[draw.node].name);
  }
  return mixed;
}

}  // namespace tenon::codegen
