#include "codegen/expr/graph/simplify.h"

#include "codegen/expr/graph/evaluate.h"

#include <algorithm>
#include <cmath>

namespace tenon::codegen::expr {
namespace {

using Arguments = std::vector<NodeId>;

bool is_constant(const Graph& g, NodeId id) { return g[id].kind == NodeKind::kConstant; }
bool is_call(const Graph& g, NodeId id, Op op) { return g[id].is_call(op); }
NodeId argument(const Graph& g, NodeId id, std::size_t i) { return g[id].arguments[i]; }

/// `id` is the number `value`, and leaving it out cannot change the dtype of `other`.
bool is_neutral(const Graph& g, NodeId id, double value, NodeId other) {
  return g[id].is_number(value) && (g[id].integral || g[other].floating);
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && value != 0 && std::fabs(std::frexp(value, &exponent)) == 0.5;
}

std::optional<NodeId> fold(Graph& g, Op op, const Arguments& a) {
  const Intrinsic& row = intrinsic(op);
  double numbers[3] = {};
  bool integral = row.integers != Integers::kPromoted;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_constant(g, a[i])) return std::nullopt;
    numbers[i] = g[a[i]].number;
    integral = integral && (g[a[i]].integral || ((row.mask_arguments >> i) & 1));
  }
  const bool divides =
      op == Op::kFloorDivide || op == Op::kTruncDivide || op == Op::kRemainder || op == Op::kFmod;
  if (integral && divides && numbers[1] == 0) return std::nullopt;        // an error at run time
  if (integral && op == Op::kPow && numbers[1] < 0) return std::nullopt;  // likewise
  if (row.integers == Integers::kOnly && !integral) return std::nullopt;
  const double value = apply_op(op, numbers);
  if (row.result == ValueKind::kMask) return g.mask_constant(value != 0);
  if (integral && !(std::fabs(value) <= 9007199254740992.0))
    return std::nullopt;  // not exact in double
  return g.constant(value, integral);
}

std::optional<NodeId> simplify_add(Graph& g, NodeId a, NodeId b) {
  if (is_neutral(g, b, 0, a)) return a;
  if (is_neutral(g, a, 0, b)) return b;
  if (is_call(g, b, Op::kNeg)) return g.call(Op::kSub, {a, argument(g, b, 0)});
  if (is_call(g, a, Op::kNeg)) return g.call(Op::kSub, {b, argument(g, a, 0)});
  return std::nullopt;
}

std::optional<NodeId> simplify_sub(Graph& g, NodeId a, NodeId b) {
  if (is_neutral(g, b, 0, a)) return a;
  if (is_neutral(g, a, 0, b)) return g.call(Op::kNeg, {b});
  if (is_call(g, b, Op::kNeg)) return g.call(Op::kAdd, {a, argument(g, b, 0)});
  return std::nullopt;
}

std::optional<NodeId> simplify_mul(Graph& g, NodeId a, NodeId b) {
  for (const auto& [x, c] : {std::pair{a, b}, std::pair{b, a}}) {
    if (is_neutral(g, c, 1, x)) return x;
    if (is_neutral(g, c, -1, x)) return g.call(Op::kNeg, {x});
    if (is_call(g, x, Op::kNeg)) {
      const NodeId inner = argument(g, x, 0);
      return g.call(Op::kNeg,
                    {x == a ? g.call(Op::kMul, {inner, c}) : g.call(Op::kMul, {c, inner})});
    }
    if (is_constant(g, c) && is_call(g, x, Op::kMul)) {
      // Exact only if one factor is a power of two.
      for (std::size_t i = 0; i < 2; ++i) {
        const NodeId d = argument(g, x, i);
        if (is_constant(g, d) && (is_power_of_two(g[c].number) || is_power_of_two(g[d].number))) {
          const NodeId rest = argument(g, x, 1 - i);
          return g.call(Op::kMul, {rest, g.call(Op::kMul, {c, d})});
        }
      }
    }
  }
  if (a == b) return g.call(Op::kSquare, {a});
  return std::nullopt;
}

std::optional<NodeId> simplify_div(Graph& g, NodeId a, NodeId b) {
  if (g[b].is_number(1) && g[a].floating) return a;
  if (is_call(g, a, Op::kNeg)) return g.call(Op::kNeg, {g.call(Op::kDiv, {argument(g, a, 0), b})});
  if (is_call(g, b, Op::kNeg)) return g.call(Op::kNeg, {g.call(Op::kDiv, {a, argument(g, b, 0)})});
  return std::nullopt;
}

std::optional<NodeId> simplify_pow(Graph& g, NodeId a, NodeId b) {
  if (!is_constant(g, b)) return std::nullopt;
  const double exponent = g[b].number;
  if (!g[b].integral && !g[a].floating && exponent == std::floor(exponent))
    return std::nullopt;  // 2.0 promotes an integer base
  if (exponent == 1) return a;
  if (exponent == 2) return g.call(Op::kSquare, {a});
  if (exponent == 3) return g.call(Op::kMul, {g.call(Op::kSquare, {a}), a});
  if (exponent == 0.5) return g.call(Op::kSqrt, {a});
  if (exponent == -0.5) return g.call(Op::kRsqrt, {a});
  if (exponent == -1 && g[a].floating) return g.call(Op::kReciprocal, {a});
  return std::nullopt;
}

std::optional<NodeId> simplify_where(Graph& g, NodeId c, NodeId a, NodeId b) {
  if (is_constant(g, c)) {
    const NodeId taken = g[c].number != 0 ? a : b;
    const NodeId other = taken == a ? b : a;
    if (g[taken].floating || !g[other].floating) return taken;
  }
  if (a == b) return a;
  if (is_call(g, c, Op::kLogicalNot)) return g.call(Op::kWhere, {argument(g, c, 0), b, a});
  if (is_call(g, a, Op::kWhere) && argument(g, a, 0) == c)
    return g.call(Op::kWhere, {c, argument(g, a, 1), b});
  if (is_call(g, b, Op::kWhere) && argument(g, b, 0) == c)
    return g.call(Op::kWhere, {c, a, argument(g, b, 2)});
  return std::nullopt;
}

std::optional<NodeId> simplify_logic(Graph& g, Op op, NodeId a, NodeId b) {
  for (const auto& [x, c] : {std::pair{a, b}, std::pair{b, a}}) {
    if (!is_constant(g, c)) continue;
    const bool value = g[c].number != 0;
    if (op == Op::kLogicalAnd) return value ? x : c;
    if (op == Op::kLogicalOr) return value ? c : x;
    return value ? g.call(Op::kLogicalNot, {x}) : x;
  }
  if (a == b && op != Op::kLogicalXor) return a;
  return std::nullopt;
}

std::optional<NodeId> simplify_unary(Graph& g, Op op, NodeId a) {
  const auto inner = [&] { return argument(g, a, 0); };
  switch (op) {
  case Op::kNeg:
  case Op::kLogicalNot:
  case Op::kConj:
    if (is_call(g, a, op)) return inner();
    if (op == Op::kLogicalNot && is_call(g, a, Op::kEq))
      return g.call(Op::kNe, Arguments(g[a].arguments));
    if (op == Op::kLogicalNot && is_call(g, a, Op::kNe))
      return g.call(Op::kEq, Arguments(g[a].arguments));
    if (op == Op::kConj &&
        (is_call(g, a, Op::kReal) || is_call(g, a, Op::kImag) || is_call(g, a, Op::kFromMask)))
      return a;
    return std::nullopt;
  case Op::kReal:
    return is_call(g, a, Op::kReal) || is_call(g, a, Op::kImag) ? std::optional(a) : std::nullopt;
  case Op::kSquare:
    if (is_call(g, a, Op::kNeg) || is_call(g, a, Op::kAbs)) return g.call(Op::kSquare, {inner()});
    return std::nullopt;
  case Op::kAbs:
    if (is_call(g, a, Op::kAbs) || is_call(g, a, Op::kFromMask)) return a;
    return is_call(g, a, Op::kNeg) ? std::optional(g.call(Op::kAbs, {inner()})) : std::nullopt;
  case Op::kToMask: return is_call(g, a, Op::kFromMask) ? std::optional(inner()) : std::nullopt;
  default: return std::nullopt;
  }
}

}  // namespace

std::optional<NodeId> simplify(Graph& g, Op op, const std::vector<NodeId>& a) {
  if (is_row_op(op)) return std::nullopt;
  if (op != Op::kWhere)
    if (const auto folded = fold(g, op, a)) return folded;
  switch (op) {
  case Op::kAdd: return simplify_add(g, a[0], a[1]);
  case Op::kSub: return simplify_sub(g, a[0], a[1]);
  case Op::kMul: return simplify_mul(g, a[0], a[1]);
  case Op::kDiv: return simplify_div(g, a[0], a[1]);
  case Op::kPow: return simplify_pow(g, a[0], a[1]);
  case Op::kWhere: return simplify_where(g, a[0], a[1], a[2]);
  case Op::kLogicalAnd:
  case Op::kLogicalOr:
  case Op::kLogicalXor: return simplify_logic(g, op, a[0], a[1]);
  case Op::kMaximum:
  case Op::kMinimum:
  case Op::kFmax:
  case Op::kFmin: return a[0] == a[1] ? std::optional(a[0]) : std::nullopt;
  default: return a.size() == 1 ? simplify_unary(g, op, a[0]) : std::nullopt;
  }
}

}  // namespace tenon::codegen::expr
