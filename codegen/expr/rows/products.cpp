#include "codegen/expr/rows/products.h"

#include <algorithm>

namespace tenon::codegen::expr {

const std::vector<NodeId> Products::kNone;

bool Products::is_output(NodeId id) const {
  return std::find(outputs_.begin(), outputs_.end(), id) != outputs_.end();
}

bool Products::has_zero_branch(NodeId id) {
  if (!g_[id].is_call(Op::kWhere)) return false;
  if (const auto known = zero_branches_.find(id); known != zero_branches_.end())
    return known->second;
  const std::vector<NodeId> branches = g_[id].arguments;
  return zero_branches_[id] = g_[branches[1]].is_number(0) || g_[branches[2]].is_number(0) ||
                              has_zero_branch(branches[1]) || has_zero_branch(branches[2]);
}

NodeId Products::scale(NodeId factor, NodeId d) {
  const auto known = scaled_.find({factor, d});
  if (known != scaled_.end()) return known->second;
  const NodeId result = scale_anew(factor, d);
  scaled_[{factor, d}] = result;
  return result;
}

NodeId Products::scale_anew(NodeId factor, NodeId d) {
  for (const auto& [x, c] : {std::pair{factor, d}, std::pair{d, factor}}) {
    if (g_[c].is_number(0)) return g_.integer(0);
    if (g_[c].is_number(1)) return x;
    if (g_[c].is_number(-1)) return g_.call(Op::kNeg, {x});
    if (g_[c].kind == NodeKind::kConstant && g_[x].is_call(Op::kMul)) {
      const std::vector<NodeId> parts = g_[x].arguments;
      for (size_t i = 0; i < 2; ++i) {
        if (g_[parts[i]].kind == NodeKind::kConstant)
          return scale(g_.call(Op::kMul, {c, parts[i]}), parts[1 - i]);
      }
    }
  }
  if (has_zero_branch(d)) {
    const std::vector<NodeId> where = g_[d].arguments;
    return g_.call(Op::kWhere, {where[0], scale(factor, where[1]), scale(factor, where[2])});
  }
  if (has_zero_branch(factor)) {
    const std::vector<NodeId> where = g_[factor].arguments;
    return g_.call(Op::kWhere, {where[0], scale(where[1], d), scale(where[2], d)});
  }
  if (g_[factor].is_call(Op::kNeg))
    return g_.call(Op::kNeg, {scale(Node(g_[factor]).arguments[0], d)});
  if (g_[d].is_call(Op::kNeg)) return g_.call(Op::kNeg, {scale(factor, Node(g_[d]).arguments[0])});
  if (g_[d].is_call(Op::kDiv) && g_[g_[d].arguments[0]].kind == NodeKind::kConstant) {
    const std::vector<NodeId> quotient = g_[d].arguments;
    return g_.call(Op::kDiv, {scale(factor, quotient[0]), quotient[1]});
  }
  if (g_[factor].is_call(Op::kDiv)) {
    const std::vector<NodeId> quotient = g_[factor].arguments;
    if (const std::optional<NodeId> ratio = known_quotient(d, quotient[1]))
      return scale(quotient[0], *ratio);
  }
  return g_.call(Op::kMul, {factor, d});
}

/// a / r where an output gives it: a / r itself, or exp of an output that is a logarithm of it.
std::optional<NodeId> Products::known_quotient(NodeId a, NodeId r) {
  const NodeId ratio = g_.call(Op::kDiv, {a, r});
  if (is_output(ratio)) return ratio;
  if (!g_[a].is_call(Op::kExp)) return std::nullopt;
  const NodeId t = g_[a].arguments[0];
  const NodeId log = g_.call(Op::kLog, {r});
  const NodeId difference = g_.call(Op::kSub, {t, log});
  if (is_output(difference)) return g_.call(Op::kExp, {difference});
  if (!g_[t].is_call(Op::kSub)) return std::nullopt;
  const std::vector<NodeId> parts = g_[t].arguments;
  const NodeId sum = g_.call(Op::kAdd, {parts[1], log});
  if (!is_output(sum)) return std::nullopt;
  return g_.call(Op::kExp, {g_.call(Op::kSub, {parts[0], sum})});
}

}  // namespace tenon::codegen::expr
