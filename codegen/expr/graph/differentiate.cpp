#include "codegen/expr/graph/differentiate.h"

#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/graph_builder.h"
#include "codegen/expr/rows/products.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tenon::codegen::expr {
namespace {

using MaybeNode = std::optional<NodeId>;  // nothing: structurally zero

/// dy/dx and dy/dconj(x). The second exists only below conj, real and imag.
struct Slope {
  MaybeNode holomorphic;
  MaybeNode conjugate;
  bool is_zero() const { return !holomorphic && !conjugate; }
};

/// Products and sums as derivatives need them: zero is structural, and factors move into the
/// branches of `where` so that a branch not taken is exactly zero.
class Algebra {
 public:
  explicit Algebra(Graph& graph) : g_(graph), products_(graph) {}

  MaybeNode product(MaybeNode a, MaybeNode b) {
    if (!a || !b) return std::nullopt;
    return nonzero(products_.scale(*a, *b));
  }

  MaybeNode sum(MaybeNode a, MaybeNode b) {
    if (!a || !b) return a ? a : b;
    return nonzero(add(*a, *b));
  }

  MaybeNode choose(NodeId condition, MaybeNode a, MaybeNode b) {
    if (!a && !b) return std::nullopt;
    return g_.call(Op::kWhere, {condition, a.value_or(zero()), b.value_or(zero())});
  }

  MaybeNode conj(MaybeNode a) {
    if (!a) return a;
    return conj_of(*a);
  }

  NodeId zero() { return g_.integer(0); }

 private:
  MaybeNode nonzero(NodeId id) { return g_[id].is_number(0) ? MaybeNode() : MaybeNode(id); }

  // Graphs share nodes, so every recursion below remembers what it has seen.

  NodeId add(NodeId a, NodeId b) {
    if (const auto it = sums_.find({a, b}); it != sums_.end()) return it->second;
    const NodeId sum = add_once(a, b);
    sums_[{a, b}] = sum;
    return sum;
  }

  NodeId add_once(NodeId a, NodeId b) {
    if (g_[a].is_number(0)) return b;
    if (g_[b].is_number(0)) return a;
    if (g_[a].is_call(Op::kWhere) && g_[b].is_call(Op::kWhere) &&
        g_[a].arguments[0] == g_[b].arguments[0]) {
      const std::vector<NodeId> x = g_[a].arguments;
      const std::vector<NodeId> y = g_[b].arguments;
      return g_.call(Op::kWhere, {x[0], add(x[1], y[1]), add(x[2], y[2])});
    }
    return g_.call(Op::kAdd, {a, b});
  }

  /// Pushed inwards past real structure so that simple derivatives stay simple.
  NodeId conj_of(NodeId id) {
    if (const auto it = conjugates_.find(id); it != conjugates_.end()) return it->second;
    const NodeId conjugate = conj_once(id);
    conjugates_[id] = conjugate;
    return conjugate;
  }

  NodeId conj_once(NodeId id) {
    if (g_[id].kind == NodeKind::kConstant) return id;
    const std::vector<NodeId> a = g_[id].arguments;
    if (g_[id].is_call(Op::kWhere))
      return g_.call(Op::kWhere, {a[0], conj_of(a[1]), conj_of(a[2])});
    if (g_[id].is_call(Op::kNeg)) return g_.call(Op::kNeg, {conj_of(a[0])});
    if (g_[id].is_call(Op::kDiv)) return g_.call(Op::kDiv, {conj_of(a[0]), conj_of(a[1])});
    if (g_[id].is_call(Op::kMul) &&
        (g_[a[0]].kind == NodeKind::kConstant || g_[a[1]].kind == NodeKind::kConstant))
      return g_.call(Op::kMul, {conj_of(a[0]), conj_of(a[1])});
    return g_.call(Op::kConj, {id});
  }

  Graph& g_;
  Products products_;
  std::map<NodeId, NodeId> conjugates_;
  std::map<std::pair<NodeId, NodeId>, NodeId> sums_;
};

class Differentiator {
 public:
  Differentiator(Graph& graph, const std::vector<NodeId>& outputs, std::vector<ExprError>& errors)
      : g_(graph), algebra_(graph), errors_(errors) {
    for (NodeId id : topological_order(g_, outputs))
      if (g_[id].kind == NodeKind::kCall)
        is_complex_ = is_complex_ && intrinsic(g_[id].op).complex_allowed;
  }

  Algebra& algebra() { return algebra_; }
  bool is_complex() const { return is_complex_; }

  /// The slope of `output` in the tensor parameter `input`.
  Slope slope(NodeId output, const std::string& input) {
    std::map<NodeId, Slope> slopes;
    for (NodeId id : topological_order(g_, {output})) {
      if (g_[id].kind == NodeKind::kTensor && g_[id].name == input)
        slopes[id].holomorphic = g_.integer(1);
    }
    return slope(output, std::move(slopes));
  }

 private:
  /// The same where the slopes of variables are given.
  Slope slope(NodeId output, std::map<NodeId, Slope> slopes) {
    for (NodeId id : topological_order(g_, {output})) {
      const Node node = g_[id];  // a copy: the graph grows
      if (node.kind == NodeKind::kCall && node.value_kind == ValueKind::kValue)
        slopes[id] = call_slope(id, node, slopes);
    }
    return slopes[output];
  }

  /// A loop that carries the slopes of its carried values beside them. Which are not zero is found
  /// by adding those that a step makes of the others, until no step makes another.
  Slope loop_slope(const Node& node, std::map<NodeId, Slope>& slopes) {
    const Loop& loop = *node.loop;
    const std::size_t count = loop.carried.size();
    auto wide = std::make_shared<Loop>(loop);
    Graph& body = wide->body;
    std::map<NodeId, Slope> seeds;
    std::map<std::size_t, NodeId> before, after;  // of carried values: what their slopes are
    std::vector<NodeId> of_captured;
    const auto seed = [&](NodeId variable) {
      const NodeId one = body.variable(NodeKind::kTensor, "d" + body[variable].name);
      seeds[variable].holomorphic = one;
      return one;
    };
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const MaybeNode outside = slopes[node.arguments[i]].holomorphic;
      if (!outside) continue;
      if (i < count) {
        before[i] = *outside;
        seed(loop.carried[i]);
      } else if (g_[*outside].kind == NodeKind::kConstant) {
        const Node& number = g_[*outside];
        seeds[loop.captured[i - count]].holomorphic = body.constant(number.number, number.integral);
      } else {
        wide->captured.push_back(seed(loop.captured[i - count]));
        of_captured.push_back(*outside);
      }
    }
    Differentiator inner(body, wide->next, errors_);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < count; ++i) {
        const MaybeNode change = inner.slope(loop.next[i], seeds).holomorphic;
        after[i] = change.value_or(body.integer(0));
        if (!change || before.contains(i)) continue;
        before[i] = g_.integer(0);
        seed(loop.carried[i]);
        more = true;
      }
    }
    const auto place = before.find(node.index);
    if (place == before.end()) return {};
    std::vector<NodeId> arguments(node.arguments.begin(), node.arguments.begin() + count);
    for (const auto& [i, value] : before) {
      wide->carried.push_back(*seeds[loop.carried[i]].holomorphic);
      wide->next.push_back(after.at(i));
      arguments.push_back(value);
    }
    arguments.insert(arguments.end(), node.arguments.begin() + count, node.arguments.end());
    arguments.insert(arguments.end(), of_captured.begin(), of_captured.end());
    wide->describe();
    const auto offset = count + static_cast<std::size_t>(std::distance(before.begin(), place));
    return {g_.repeat(std::move(wide), static_cast<std::uint32_t>(offset), arguments), {}};
  }

  Slope call_slope(NodeId id, const Node& node, std::map<NodeId, Slope>& slopes) {
    if (node.loop) return loop_slope(node, slopes);
    Slope result;
    if (node.op == Op::kWhere) {
      const Slope a = slopes[node.arguments[1]];
      const Slope b = slopes[node.arguments[2]];
      result.holomorphic = algebra_.choose(node.arguments[0], a.holomorphic, b.holomorphic);
      result.conjugate = algebra_.choose(node.arguments[0], a.conjugate, b.conjugate);
      return result;
    }
    const Slope first = slopes[node.arguments[0]];
    if (is_complex_ && (node.op == Op::kConj || node.op == Op::kReal || node.op == Op::kImag))
      return conjugated_slope(node.op, first);
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const Slope inner = slopes[node.arguments[i]];
      if (inner.is_zero()) continue;
      const MaybeNode partial = partial_derivative(id, node, i);
      result.holomorphic =
          algebra_.sum(result.holomorphic, algebra_.product(inner.holomorphic, partial));
      result.conjugate = algebra_.sum(result.conjugate, algebra_.product(inner.conjugate, partial));
    }
    return result;
  }

  /// conj, real and imag as linear maps of z and conj(z); imag itself is -i/2 (z - conj(z)), whose
  /// factor i the language cannot write.
  Slope conjugated_slope(Op op, const Slope& inner) {
    Slope swapped{algebra_.conj(inner.conjugate), algebra_.conj(inner.holomorphic)};
    if (op == Op::kConj || inner.is_zero()) return swapped;
    if (op == Op::kImag) {
      report("'imag' has no derivative rule on complex numbers");
      return {};
    }
    const MaybeNode half = g_.constant(0.5, false);
    return {algebra_.product(half, algebra_.sum(inner.holomorphic, swapped.holomorphic)),
            algebra_.product(half, algebra_.sum(inner.conjugate, swapped.conjugate))};
  }

  MaybeNode partial_derivative(NodeId id, const Node& node, std::size_t i) {
    const Intrinsic& row = intrinsic(node.op);
    const std::string_view text = row.derivative[i];
    if (text.empty()) return std::nullopt;
    if (text == kNoDerivative) {
      report("'" + std::string(row.name) + "' has no derivative rule");
      return std::nullopt;
    }
    GraphBuilder::Names names = {{"y", id}};
    for (std::size_t j = 0; j < node.arguments.size(); ++j)
      names[std::string(1, static_cast<char>('a' + j))] = node.arguments[j];
    std::vector<ExprError> errors;
    const auto parsed = GraphBuilder(g_, names, {}).add(std::string(text), errors);
    if (!parsed)
      throw std::logic_error("[differentiate] the derivative rules must parse, got '" +
                             std::string(text) + "': " + errors.front().message);
    return g_[*parsed].is_number(0) ? MaybeNode() : MaybeNode(*parsed);
  }

  void report(const std::string& message) {
    for (const ExprError& error : errors_)
      if (error.message == message) return;
    errors_.push_back({0, 0, message, "", 0});
  }

  Graph& g_;
  Algebra algebra_;
  std::vector<ExprError>& errors_;
  bool is_complex_ = true;
};

void describe_uses(const Graph& g, Gradient& gradient) {
  gradient.tensors.clear();
  gradient.scalars.clear();
  gradient.results.clear();
  gradient.grads.clear();
  for (NodeId id : topological_order(g, {gradient.node})) {
    const Node& node = g[id];
    switch (node.kind) {
    case NodeKind::kTensor: append_new(gradient.tensors, node.name); break;
    case NodeKind::kScalar: append_new(gradient.scalars, node.name); break;
    case NodeKind::kResult: append_new(gradient.results, node.index); break;
    case NodeKind::kGrad: append_new(gradient.grads, node.index); break;
    default: break;
    }
  }
}

void describe_form(const Graph& g, Gradient& gradient) {
  const Node& node = g[gradient.node];
  const auto scaled = [&](double factor) {
    gradient.form = GradientForm::kScaled;
    gradient.factor = factor;
  };
  gradient.form = GradientForm::kGeneral;
  if (node.is_number(0)) {
    gradient.form = GradientForm::kZero;
    gradient.factor = 0;
  } else if (node.kind == NodeKind::kGrad) {
    gradient.form = GradientForm::kGrad;
  } else if (node.is_call(Op::kNeg) && g[node.arguments[0]].kind == NodeKind::kGrad) {
    scaled(-1);
  } else if ((node.is_call(Op::kMul) || node.is_call(Op::kDiv)) &&
             g[node.arguments[0]].kind == NodeKind::kGrad &&
             g[node.arguments[1]].kind == NodeKind::kConstant) {
    const double number = g[node.arguments[1]].number;
    scaled(node.op == Op::kMul ? number : 1 / number);
  }
}

/// Tensors that have to be kept; a random number cannot be, so that any result is better.
std::size_t count_saved(const Graph& g, const std::vector<NodeId>& nodes) {
  constexpr std::size_t kNever = 1000;
  std::size_t count = 0;
  for (NodeId id : topological_order(g, nodes)) {
    if (g[id].kind == NodeKind::kRandom) count += kNever;
    count += g[id].kind == NodeKind::kTensor || g[id].kind == NodeKind::kResult;
  }
  return count;
}

bool is_random(const Graph& g, NodeId node) {
  const auto order = topological_order(g, {node});
  return std::any_of(order.begin(), order.end(),
                     [&](NodeId id) { return g[id].kind == NodeKind::kRandom; });
}

/// Reads outputs from their saved results where that saves no more tensors than before.
void use_results(Expression& expression, std::vector<Gradient>& gradients) {
  Graph& g = expression.graph;
  std::vector<NodeId> nodes;
  for (const Gradient& gradient : gradients) nodes.push_back(gradient.node);
  for (std::size_t i = 0; i < expression.outputs.size(); ++i) {
    const NodeId output = expression.outputs[i];
    const bool mask = g[output].value_kind == ValueKind::kMask;
    if ((g[output].kind != NodeKind::kCall || mask) && !is_random(g, output)) continue;
    const auto order = topological_order(g, nodes);
    if (std::find(order.begin(), order.end(), output) == order.end()) continue;
    const NodeId saved = g.variable(NodeKind::kResult, result_name(i, expression.outputs.size()),
                                    static_cast<uint32_t>(i));
    const NodeId result = mask ? g.as_mask(saved) : saved;
    std::vector<NodeId> replaced;
    for (NodeId node : nodes) replaced.push_back(substitute(g, node, {{output, result}}));
    if (count_saved(g, replaced) <= count_saved(g, nodes)) nodes = std::move(replaced);
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i].node = nodes[i];
}

}  // namespace

std::string grad_name(std::size_t output, std::size_t num_outputs) {
  return num_outputs == 1 ? "grad" : "grad_" + std::to_string(output);
}

std::string result_name(std::size_t output, std::size_t num_outputs) {
  return num_outputs == 1 ? "result" : "result" + std::to_string(output);
}

Derivative differentiate(Expression& expression) {
  Derivative derivative;
  Graph& g = expression.graph;
  const std::size_t num_outputs = expression.outputs.size();
  Differentiator differentiator(g, expression.outputs, derivative.errors);
  Algebra& algebra = differentiator.algebra();
  for (const Parameter& parameter : expression.parameters) {
    if (!parameter.is_tensor || !parameter.differentiable) continue;
    MaybeNode total;
    for (std::size_t i = 0; i < num_outputs; ++i) {
      if (g[expression.outputs[i]].value_kind == ValueKind::kMask) continue;
      Slope slope = differentiator.slope(expression.outputs[i], parameter.name);
      const NodeId grad =
          g.variable(NodeKind::kGrad, grad_name(i, num_outputs), static_cast<std::uint32_t>(i));
      if (differentiator.is_complex()) slope.holomorphic = algebra.conj(slope.holomorphic);
      if (slope.holomorphic && slope.holomorphic == slope.conjugate) {
        const NodeId doubled = g.call(Op::kMul, {g.integer(2), *slope.holomorphic});
        total = algebra.sum(total, algebra.product(g.call(Op::kReal, {grad}), doubled));
        continue;
      }
      total = algebra.sum(total, algebra.product(grad, slope.holomorphic));
      total = algebra.sum(total, algebra.product(g.call(Op::kConj, {grad}), slope.conjugate));
    }
    Gradient gradient;
    gradient.input = parameter.name;
    gradient.node = total.value_or(algebra.zero());
    derivative.gradients.push_back(std::move(gradient));
  }
  use_results(expression, derivative.gradients);
  for (Gradient& gradient : derivative.gradients) {
    for (const Draw& draw : expression.draws) {
      const auto order = topological_order(g, {gradient.node});
      if (std::find(order.begin(), order.end(), draw.node) == order.end()) continue;
      derivative.errors.push_back(
          {draw.offset, draw.length,
           "the gradient of '" + gradient.input + "' needs the numbers of this '" + draw.function +
               "', which backward cannot draw again: give what it needs of them as a result",
           "", draw.text_index});
    }
    describe_uses(g, gradient);
    describe_form(g, gradient);
    for (const std::string& name : gradient.tensors) append_new(derivative.saved_tensors, name);
    for (const std::string& name : gradient.scalars) append_new(derivative.saved_scalars, name);
    for (std::uint32_t index : gradient.results) append_new(derivative.saved_results, index);
  }
  return derivative;
}

NodeId tangent(Expression& expression, std::size_t output, std::vector<ExprError>& errors) {
  Graph& g = expression.graph;
  Differentiator differentiator(g, expression.outputs, errors);
  Algebra& algebra = differentiator.algebra();
  MaybeNode total;
  for (const Parameter& parameter : expression.parameters) {
    if (!parameter.is_tensor || !parameter.differentiable) continue;
    const Slope slope = differentiator.slope(expression.outputs[output], parameter.name);
    const NodeId direction = g.variable(NodeKind::kTangent, parameter.name + "_t");
    total = algebra.sum(total, algebra.product(direction, slope.holomorphic));
    total = algebra.sum(total, algebra.product(g.call(Op::kConj, {direction}), slope.conjugate));
  }
  return total.value_or(algebra.zero());
}

}  // namespace tenon::codegen::expr
