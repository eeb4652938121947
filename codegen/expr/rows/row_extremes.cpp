#include "codegen/expr/rows/row_extremes.h"

#include <algorithm>
#include <map>

namespace tenon::codegen::expr {
namespace {

/// Whether a NaN among the operands is a NaN of the result, whatever the others are.
bool passes_nan_on(Op op) {
  switch (op) {
  case Op::kAdd:
  case Op::kSub:
  case Op::kMul:
  case Op::kDiv:
  case Op::kNeg:
  case Op::kAbs:
  case Op::kSquare:
  case Op::kReciprocal:
  case Op::kFma:
  case Op::kExp:
  case Op::kExp2:
  case Op::kExpm1:
  case Op::kLog:
  case Op::kLog2:
  case Op::kLog10:
  case Op::kLog1p:
  case Op::kSqrt:
  case Op::kRsqrt:
  case Op::kTanh:
  case Op::kSigmoid: return true;
  default: return false;
  }
}

enum class Nan : std::uint8_t { kUnknown, kWhereOperandIs, kEverywhere };

/// What is known of a node's value in rows whose operand of the extreme has a NaN.
struct Known {
  bool same;  ///< whatever the extreme is
  Nan nan = Nan::kUnknown;
};

Known of_call(const Node& node, const std::vector<Known>& arguments) {
  Known known = {true};
  for (const Known& argument : arguments) {
    known.same &= argument.same;
    known.nan = std::max(known.nan, argument.nan);
  }
  if (node.op == Op::kRowSum || node.op == Op::kRowProd) {
    if (known.nan == Nan::kWhereOperandIs) known.nan = Nan::kEverywhere;
  } else if (!passes_nan_on(node.op)) {
    known.nan = Nan::kUnknown;
  }
  known.same |= known.nan == Nan::kEverywhere;
  return known;
}

bool may_lose_nan(const Graph& g, const std::vector<NodeId>& order,
                  const std::vector<NodeId>& outputs, NodeId extreme,
                  const std::set<NodeId>& others) {
  std::map<NodeId, Known> known;
  for (const NodeId id : order) {
    if (id == extreme || others.contains(id)) {
      known[id] = {false};
      continue;
    }
    std::vector<Known> arguments;
    for (const NodeId argument : g[id].arguments) arguments.push_back(known.at(argument));
    known[id] = g[id].kind == NodeKind::kCall ? of_call(g[id], arguments) : Known{true};
    if (id == g[extreme].arguments[0])
      known[id].nan = std::max(known[id].nan, Nan::kWhereOperandIs);
  }
  return std::all_of(outputs.begin(), outputs.end(), [&](NodeId id) { return known.at(id).same; });
}

}  // namespace

std::set<NodeId> extremes_that_may_lose_nan(const Graph& g, const std::vector<NodeId>& outputs) {
  const std::vector<NodeId> order = topological_order(g, outputs);
  std::set<NodeId> result;
  for (const NodeId id : order) {
    if (!g[id].is_call(Op::kRowMax) && !g[id].is_call(Op::kRowMin)) continue;
    if (may_lose_nan(g, order, outputs, id, result)) result.insert(id);
  }
  return result;
}

}  // namespace tenon::codegen::expr
