#include "codegen/expr/rows/differentiate_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/graph_builder.h"
#include "codegen/expr/rows/products.h"
#include "codegen/expr/rows/row_schedule.h"

namespace tenon::codegen::expr {
namespace {

using MaybeNode = std::optional<NodeId>;  // nothing: structurally zero

/// Products, sums and sums over rows as derivatives need them.
class RowAlgebra {
 public:
  RowAlgebra(Graph& graph, const std::vector<NodeId>& outputs)
      : g_(graph), outputs_(outputs), products_(graph, outputs) {}

  MaybeNode product(NodeId adjoint, NodeId partial) {
    // Numbers go to what is computed once for a row.
    if (!is_per_element(adjoint) && g_[partial].is_call(Op::kMul)) {
      const std::vector<NodeId> factors = g_[partial].arguments;
      for (const size_t i : {0u, 1u}) {
        if (g_[factors[i]].kind != NodeKind::kConstant || !is_per_element(factors[1 - i])) continue;
        adjoint = products_.scale(adjoint, factors[i]);
        partial = factors[1 - i];
        break;
      }
    }
    const NodeId result = products_.scale(adjoint, partial);
    return g_[result].is_number(0) ? MaybeNode() : MaybeNode(result);
  }

  NodeId add(NodeId a, NodeId b) {
    if (g_[b].is_call(Op::kNeg)) return combine(Op::kSub, a, g_[b].arguments[0]);
    if (g_[a].is_call(Op::kNeg)) return combine(Op::kSub, b, g_[a].arguments[0]);
    return combine(Op::kAdd, a, b);
  }

  /// Sum over the row, of a value that may be the same for all its elements.
  MaybeNode row_sum(NodeId value) {
    Factors factors;
    split(value, false, factors);
    NodeId total = 0;
    if (factors.elements_above.empty() && factors.elements_below.empty()) {
      total = g_.call(Op::kRowLength, {});
    } else {
      const NodeId elements = joined(factors.elements_above, factors.elements_below);
      const MaybeNode rest = without_centred(elements);
      if (!rest) return {};
      const MaybeNode sum =
          *rest == elements ? MaybeNode(g_.call(Op::kRowSum, {elements})) : row_sum(*rest);
      if (!sum) return {};
      total = *sum;
    }
    for (const NodeId factor : factors.row_above) total = g_.call(Op::kMul, {total, factor});
    for (const NodeId factor : factors.row_below) total = g_.call(Op::kDiv, {total, factor});
    return factors.negative ? g_.call(Op::kNeg, {total}) : total;
  }

 private:
  static constexpr int kMaxSteps = 256;

  /// x - mean(x), whose sum over the row is zero.
  bool is_centred(NodeId id) {
    if (!g_[id].is_call(Op::kSub)) return false;
    const std::vector<NodeId> parts = g_[id].arguments;
    const NodeId length = g_.call(Op::kRowLength, {});
    return parts[1] == g_.call(Op::kDiv, {g_.call(Op::kRowSum, {parts[0]}), length});
  }

  /// The value without the terms whose sum over the row is zero: a norm's gradient needs a pass
  /// less. Nothing where no term is left.
  MaybeNode without_centred(NodeId value) {
    // Terms may share others: each is looked at once.
    const auto known = without_centred_.find(value);
    if (known != without_centred_.end()) return known->second;
    const MaybeNode rest = without_centred_anew(value);
    without_centred_.emplace(value, rest);
    return rest;
  }

  MaybeNode without_centred_anew(NodeId value) {
    if (!is_per_element(value)) return value;
    Factors factors;
    split(value, false, factors);
    if (factors.elements_above.size() == 1 && factors.elements_below.empty() &&
        is_centred(factors.elements_above[0]))
      return {};
    if (is_output(value)) return value;
    const Node node = g_[value];  // a copy: the graph grows
    if (!node.is_call(Op::kAdd) && !node.is_call(Op::kSub)) return value;
    const MaybeNode a = without_centred(node.arguments[0]), b = without_centred(node.arguments[1]);
    if (a == node.arguments[0] && b == node.arguments[1]) return value;
    if (a && b) return g_.call(node.op, {*a, *b});
    return b && node.op == Op::kSub ? MaybeNode(g_.call(Op::kNeg, {*b})) : a ? a : b;
  }

  /// A product's factors and divisors, apart by domain.
  struct Factors {
    std::vector<NodeId> elements_above, elements_below, row_above, row_below;
    bool negative = false;
    int steps = 0;
  };

  bool is_output(NodeId id) const {
    return std::find(outputs_.begin(), outputs_.end(), id) != outputs_.end();
  }
  bool is_per_element(NodeId id) const { return g_[id].domain == Domain::kElement; }

  void split(NodeId id, bool below, Factors& factors) {
    const Node node = g_[id];  // a copy: the graph grows
    // A product of products that share factors may have very many.
    if (node.domain == Domain::kElement && !is_output(id) && ++factors.steps <= kMaxSteps) {
      if (node.is_call(Op::kMul) || node.is_call(Op::kDiv)) {
        split(node.arguments[0], below, factors);
        split(node.arguments[1], below != node.is_call(Op::kDiv), factors);
        return;
      }
      if (node.is_call(Op::kNeg)) {
        factors.negative = !factors.negative;
        split(node.arguments[0], below, factors);
        return;
      }
    }
    if (is_per_element(id)) {
      (below ? factors.elements_below : factors.elements_above).push_back(id);
    } else {
      (below ? factors.row_below : factors.row_above).push_back(id);
    }
  }

  NodeId joined(const std::vector<NodeId>& above, const std::vector<NodeId>& below) {
    NodeId result = above.empty() ? g_.constant(1, false) : above[0];
    for (size_t i = 1; i < above.size(); ++i) result = g_.call(Op::kMul, {result, above[i]});
    for (const NodeId one : below) result = g_.call(Op::kDiv, {result, one});
    return result;
  }

  /// a + b or a - b, with a factor or divisor that both have for the whole row taken out.
  NodeId combine(Op op, NodeId a, NodeId b) {
    for (const Op product : {Op::kDiv, Op::kMul}) {
      if (!g_[a].is_call(product) || !g_[b].is_call(product)) continue;
      const std::vector<NodeId> x = g_[a].arguments, y = g_[b].arguments;
      if (x[1] == y[1] && !is_per_element(x[1]))
        return g_.call(product, {g_.call(op, {x[0], y[0]}), x[1]});
    }
    return g_.call(op, {a, b});
  }

  Graph& g_;
  const std::vector<NodeId>& outputs_;
  Products products_;
  std::map<NodeId, MaybeNode> without_centred_;
};

constexpr std::string_view kTieShare = "(x == y) / sum(x == y)";
/// The product of the others, without dividing by zero.
constexpr std::string_view kProductOfOthers =
    "z = sum(x == 0); where(z == 0, y / x, where(z == 1 && x == 0, prod(where(x == 0, 1, x)), 0))";

/// A rule of intrinsics.cpp, or one of the above, as nodes.
NodeId parse_rule(Graph& graph, std::string_view text, const GraphBuilder::Names& names) {
  std::vector<ExprError> errors;
  const auto parsed = GraphBuilder(graph, names, {.rows = true}).add(std::string(text), errors);
  if (!parsed)
    throw std::logic_error("[differentiate_rows] the rules must parse, got '" + std::string(text) +
                           "': " + errors.front().message);
  return *parsed;
}

/// Of the function that the node calls with respect to argument i; nothing where it has none.
MaybeNode partial(Graph& graph, NodeId id, size_t i) {
  const Node node = graph[id];
  const std::string_view text = intrinsic(node.op).derivative[i];
  if (text.empty() || graph[node.arguments[i]].domain == Domain::kScalar) return {};
  GraphBuilder::Names names = {{"y", id}};
  for (size_t j = 0; j < node.arguments.size(); ++j)
    names[std::string(1, static_cast<char>('a' + j))] = node.arguments[j];
  return parse_rule(graph, text, names);
}

class Sweep {
 public:
  explicit Sweep(Expression& expression, std::vector<ExprError>& errors)
      : expression_(expression), g_(expression.graph), algebra_(g_, expression.outputs),
        errors_(errors) {}

  std::map<NodeId, NodeId> run(const std::vector<bool>& differentiable) {
    const size_t num_outputs = expression_.outputs.size();
    for (size_t i = 0; i < num_outputs; ++i) {
      if (!differentiable.empty() && !differentiable[i]) continue;
      const NodeId output = expression_.outputs[i];
      if (!has_gradient(g_, output)) continue;
      // An output of a smaller domain still has the elements' shape only if it is an element.
      contribute(output, g_.variable(NodeKind::kGrad, grad_name(i, num_outputs),
                                     static_cast<uint32_t>(i), g_[output].domain));
    }
    std::vector<NodeId> order = topological_order(g_, expression_.outputs);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const auto found = adjoints_.find(*it);
      const Node node = g_[*it];
      if (found == adjoints_.end() || node.kind != NodeKind::kCall) continue;
      if (node.value_kind == ValueKind::kValue) visit(*it, node, found->second);
    }
    return adjoints_;
  }

 private:
  void contribute(NodeId argument, MaybeNode value) {
    if (!value || g_[argument].domain == Domain::kScalar) return;
    const auto [it, first] = adjoints_.try_emplace(argument, *value);
    if (!first) it->second = algebra_.add(it->second, *value);
  }

  /// From a node that has a value per element to an argument that may have one per row.
  void pass_down(const Node& node, NodeId argument, MaybeNode value) {
    if (!value) return;
    if (node.domain == Domain::kElement && g_[argument].domain == Domain::kRow) {
      value = algebra_.row_sum(*value);
    }
    contribute(argument, value);
  }

  void visit(NodeId id, const Node& node, NodeId adjoint) {
    const std::vector<NodeId>& a = node.arguments;
    switch (node.op) {
    case Op::kDetach:
    case Op::kRowIndex:
    case Op::kRowLength:
    case Op::kRowOthers: return;
    case Op::kRowSum: return contribute(a[0], adjoint);
    case Op::kRowMax:
    case Op::kRowMin:
    case Op::kRowFmax:
    case Op::kRowFmin:
      return contribute(
          a[0], algebra_.product(adjoint, parse_rule(g_, kTieShare, {{"x", a[0]}, {"y", id}})));
    case Op::kRowProd:
      return contribute(a[0], algebra_.product(adjoint, g_.call(Op::kRowOthers, {a[0], id})));
    case Op::kPick:
      return contribute(a[0],
                        parse_rule(g_, "where(index() == i, g, 0)", {{"i", a[1]}, {"g", adjoint}}));
    case Op::kWhere:
      pass_down(node, a[1], g_.call(Op::kWhere, {a[0], adjoint, g_.integer(0)}));
      pass_down(node, a[2], g_.call(Op::kWhere, {a[0], g_.integer(0), adjoint}));
      return;
    default: break;
    }
    const Intrinsic& row = intrinsic(node.op);
    for (size_t i = 0; i < a.size(); ++i) {
      if (row.derivative[i] == kNoDerivative && g_[a[i]].domain != Domain::kScalar) {
        report("'" + std::string(row.name) + "' has no derivative rule");
      } else if (const MaybeNode factor = partial(g_, id, i)) {
        pass_down(node, a[i], algebra_.product(adjoint, *factor));
      }
    }
  }

  void report(const std::string& message) {
    for (const ExprError& error : errors_)
      if (error.message == message) return;
    errors_.push_back({0, 0, message, "", 0});
  }

  Expression& expression_;
  Graph& g_;
  RowAlgebra algebra_;
  std::vector<ExprError>& errors_;
  std::map<NodeId, NodeId> adjoints_;
};

/// The tangents of nodes along that of one parameter.
class Push {
 public:
  Push(Expression& expression, std::string input)
      : expression_(expression), g_(expression.graph), algebra_(g_, expression.outputs),
        input_(std::move(input)) {}

  std::map<NodeId, NodeId> run() {
    for (const NodeId id : topological_order(g_, expression_.outputs)) {
      const Node node = g_[id];
      MaybeNode tangent;
      if (node.kind == NodeKind::kTensor && node.name == input_) {
        tangent = g_.variable(NodeKind::kTangent, input_ + "_t", 0, node.domain);
      } else if (node.kind == NodeKind::kCall && node.value_kind == ValueKind::kValue) {
        tangent = of_call(id, node);
      }
      if (tangent) tangents_[id] = *tangent;
    }
    return tangents_;
  }

 private:
  MaybeNode of(NodeId id) const {
    const auto found = tangents_.find(id);
    return found == tangents_.end() ? MaybeNode() : MaybeNode(found->second);
  }

  MaybeNode of_call(NodeId id, const Node& node) {
    const std::vector<NodeId>& a = node.arguments;
    switch (node.op) {
    case Op::kDetach:
    case Op::kRowIndex:
    case Op::kRowLength:
    case Op::kRowArgmax:
    case Op::kRowArgmin:
    case Op::kRowCount: return {};
    case Op::kRowSum: return summed(of(a[0]));
    case Op::kRowMax:
    case Op::kRowMin:
    case Op::kRowFmax:
    case Op::kRowFmin:
      return summed(product(of(a[0]), parse_rule(g_, kTieShare, {{"x", a[0]}, {"y", id}})));
    case Op::kRowProd: return summed(product(of(a[0]), g_.call(Op::kRowOthers, {a[0], id})));
    case Op::kPick: {
      const MaybeNode tangent = of(a[0]);
      if (!tangent || g_[*tangent].domain != Domain::kElement) return tangent;
      return g_.call(Op::kPick, {*tangent, a[1]});
    }
    case Op::kWhere: {
      const MaybeNode yes = of(a[1]), no = of(a[2]);
      if (!yes && !no) return {};
      const NodeId zero = g_.integer(0);
      return g_.call(Op::kWhere, {a[0], yes.value_or(zero), no.value_or(zero)});
    }
    default: break;
    }
    MaybeNode sum;
    for (size_t i = 0; i < a.size(); ++i) {
      const MaybeNode tangent = of(a[i]);
      const MaybeNode factor = tangent ? partial(g_, id, i) : MaybeNode();
      const MaybeNode term = factor ? algebra_.product(*tangent, *factor) : MaybeNode();
      if (term) sum = sum ? algebra_.add(*sum, *term) : *term;
    }
    return sum;
  }

  MaybeNode product(MaybeNode tangent, NodeId factor) {
    return tangent ? algebra_.product(*tangent, factor) : MaybeNode();
  }
  MaybeNode summed(MaybeNode value) {
    return value ? MaybeNode(algebra_.row_sum(*value)) : MaybeNode();
  }

  Expression& expression_;
  Graph& g_;
  RowAlgebra algebra_;
  const std::string input_;
  std::map<NodeId, NodeId> tangents_;
};

/// Element-sized tensors that the gradients read beside `grad`.
size_t count_kept(const Graph& g, const std::vector<NodeId>& nodes) {
  size_t count = 0;
  for (const NodeId id : topological_order(g, nodes)) {
    const bool kept = g[id].kind == NodeKind::kTensor || g[id].kind == NodeKind::kResult;
    count += kept && g[id].domain == Domain::kElement;
  }
  return count;
}

/// Returns what was replaced by what.
std::map<NodeId, NodeId> use_results(Expression& expression, std::vector<RowGradient>& gradients) {
  Graph& g = expression.graph;
  std::vector<NodeId> nodes;
  for (const RowGradient& gradient : gradients) nodes.push_back(gradient.node);
  // An output may be part of another: what is replaced is looked for in the nodes as they were.
  std::map<NodeId, NodeId> results;
  const auto replaced = [&](const std::map<NodeId, NodeId>& by) {
    std::vector<NodeId> copies;
    for (const NodeId node : nodes) copies.push_back(substitute(g, node, by));
    return copies;
  };
  for (size_t i = 0; i < expression.outputs.size(); ++i) {
    const NodeId output = expression.outputs[i];
    if (g[output].kind != NodeKind::kCall || !has_gradient(g, output)) continue;
    std::map<NodeId, NodeId> more = results;
    more[output] = g.variable(NodeKind::kResult, result_name(i, expression.outputs.size()),
                              static_cast<uint32_t>(i), g[output].domain);
    if (count_kept(g, replaced(more)) <= count_kept(g, replaced(results))) results = more;
  }
  nodes = replaced(results);
  for (size_t i = 0; i < gradients.size(); ++i) gradients[i].node = nodes[i];
  return results;
}

/// A `pick` that the operator needs not always is not needed more often by its gradients: where
/// their terms share it, it would be. `results`: what the gradients read in place of outputs.
void guard_picks(Graph& g, const std::vector<NodeId>& outputs,
                 const std::map<NodeId, NodeId>& results, std::vector<RowGradient>& gradients) {
  std::map<NodeId, NodeId> needed;
  for (const auto& [pick, mask] : needed_picks(g, outputs)) {
    if (!g[mask].is_number(1)) needed[substitute(g, pick, results)] = substitute(g, mask, results);
  }
  std::vector<NodeId> nodes;
  for (const RowGradient& gradient : gradients) nodes.push_back(gradient.node);
  const std::map<NodeId, NodeId> needed_now = needed_picks(g, nodes);
  std::map<NodeId, NodeId> guarded;
  for (const NodeId id : topological_order(g, nodes)) {
    const auto before = needed.find(id);
    if (before == needed.end() || needed_now.at(id) == before->second) continue;
    std::vector<NodeId> arguments = g[id].arguments;
    for (NodeId& argument : arguments) argument = substitute(g, argument, guarded);
    guarded[id] = g.call(Op::kWhere, {substitute(g, before->second, guarded),
                                      g.call(Op::kPick, arguments), g.integer(0)});
  }
  for (RowGradient& gradient : gradients) gradient.node = substitute(g, gradient.node, guarded);
}

/// x * (1 / y), with y the same for the row, as x / y: a cheaper kernel has the same derivative.
void divide_for_reciprocals(Expression& expression) {
  Graph& g = expression.graph;
  std::map<NodeId, NodeId> divided;
  for (const NodeId id : topological_order(g, expression.outputs)) {
    if (!g[id].is_call(Op::kMul)) continue;
    const std::vector<NodeId> factors = g[id].arguments;
    for (const size_t i : {0u, 1u}) {
      const Node reciprocal = g[factors[i]];
      if (!reciprocal.is_call(Op::kDiv) || !g[reciprocal.arguments[0]].is_number(1)) continue;
      if (g[reciprocal.arguments[1]].domain == Domain::kElement) continue;
      divided[id] = g.call(Op::kDiv, {substitute(g, factors[1 - i], divided),
                                      substitute(g, reciprocal.arguments[1], divided)});
      break;
    }
  }
  if (divided.empty()) return;
  for (NodeId& output : expression.outputs) output = substitute(g, output, divided);
}

}  // namespace

bool has_gradient(const Graph& graph, NodeId result) {
  const Node& node = graph[result];
  return node.value_kind != ValueKind::kMask &&
         !(node.kind == NodeKind::kCall && is_whole(node.op));
}

NodeId product_of_others(Graph& graph, NodeId x, NodeId y) {
  return parse_rule(graph, kProductOfOthers, {{"x", x}, {"y", y}});
}

std::vector<std::optional<NodeId>> row_tangents(Expression& expression, const std::string& input) {
  divide_for_reciprocals(expression);
  Graph& g = expression.graph;
  const std::vector<NodeId>& outputs = expression.outputs;
  const std::map<NodeId, NodeId> tangents = Push(expression, input).run();
  std::map<NodeId, NodeId> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (g[outputs[i]].kind != NodeKind::kCall || !has_gradient(g, outputs[i])) continue;
    results[outputs[i]] = g.variable(NodeKind::kResult, result_name(i, outputs.size()),
                                     static_cast<uint32_t>(i), g[outputs[i]].domain);
  }
  std::vector<MaybeNode> found;
  for (const NodeId output : outputs) {
    const auto tangent = tangents.find(output);
    found.push_back(tangent == tangents.end() ? MaybeNode()
                                              : substitute(g, tangent->second, results));
  }
  return found;
}

RowDerivative differentiate_rows(Expression& expression, const std::vector<bool>& differentiable) {
  divide_for_reciprocals(expression);
  RowDerivative derivative;
  Graph& g = expression.graph;
  const std::map<NodeId, NodeId> adjoints =
      Sweep(expression, derivative.errors).run(differentiable);
  // Where its variable is its own node: the domain is part of the graph's.
  const std::vector<NodeId> order = topological_order(g, expression.outputs);
  for (const Parameter& parameter : expression.parameters) {
    if (!parameter.is_tensor || !parameter.differentiable) continue;
    NodeId node = g.integer(0);
    for (const NodeId id : order) {
      if (g[id].kind != NodeKind::kTensor || g[id].name != parameter.name) continue;
      if (const auto it = adjoints.find(id); it != adjoints.end()) node = it->second;
    }
    derivative.gradients.push_back({parameter.name, node});
  }
  const std::map<NodeId, NodeId> results = use_results(expression, derivative.gradients);
  guard_picks(g, expression.outputs, results, derivative.gradients);
  return derivative;
}

}  // namespace tenon::codegen::expr
