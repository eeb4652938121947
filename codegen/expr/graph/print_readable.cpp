#include "codegen/expr/graph/print_readable.h"

#include "codegen/expr/graph/print_kernel.h"

#include <cmath>
#include <map>
#include <set>

namespace tenon::codegen::expr {
namespace {

constexpr int kAtom = 12;
constexpr int kUnary = 11;

struct Infix {
  std::string_view text;
  int level;
};

Infix infix_of(Op op) {
  switch (op) {
  case Op::kLogicalOr: return {"||", 1};
  case Op::kLogicalAnd: return {"&&", 2};
  case Op::kBitwiseOr: return {"|", 3};
  case Op::kBitwiseXor: return {"^", 4};
  case Op::kBitwiseAnd: return {"&", 5};
  case Op::kEq: return {"==", 6};
  case Op::kNe: return {"!=", 6};
  case Op::kLt: return {"<", 7};
  case Op::kLe: return {"<=", 7};
  case Op::kGt: return {">", 7};
  case Op::kGe: return {">=", 7};
  case Op::kLshift: return {"<<", 8};
  case Op::kRshift: return {">>", 8};
  case Op::kAdd: return {"+", 9};
  case Op::kSub: return {"-", 9};
  case Op::kMul: return {"*", 10};
  case Op::kDiv: return {"/", 10};
  case Op::kRemainder: return {"%", 10};
  default: return {"", 0};
  }
}

struct Text {
  std::string text;
  int level;
};

std::string number_text(const Node& node) {
  const double magnitude = std::fabs(node.number);
  std::string text;
  if (node.value_kind == ValueKind::kMask) return node.number != 0 ? "true" : "false";
  if (std::isnan(node.number)) return "nan";
  if (std::isinf(node.number))
    text = "inf";
  else if (node.integral)
    text = std::to_string(static_cast<long long>(magnitude));
  else
    text = double_literal(magnitude);
  return std::signbit(node.number) ? "-" + text : text;
}

/// Nodes printed as a name.
using Names = std::map<NodeId, std::string>;

Text print(const Graph& g, NodeId id, const Names& names);

/// `repeat(92, c1 != 0, c0 = x: c1, c1 = y: x % y; c0)`: steps, condition, each carried value with
/// what it is at first and next, and which of them it is.
std::string loop_text(const Graph& g, NodeId id, const Names& names) {
  const Loop& loop = *g[id].loop;
  Names inside;
  for (std::size_t i = 0; i < loop.captured.size(); ++i) {
    const Text outside = print(g, g[id].arguments[loop.carried.size() + i], names);
    inside[loop.captured[i]] = outside.level == kAtom ? outside.text : "(" + outside.text + ")";
  }
  std::string text =
      "repeat(" + std::to_string(loop.most) + ", " + print(loop.body, loop.condition, inside).text;
  for (std::size_t i = 0; i < loop.carried.size(); ++i) {
    text += ", " + loop.body[loop.carried[i]].name + " = " +
            print(g, g[id].arguments[i], names).text + ": " +
            print(loop.body, loop.next[i], inside).text;
  }
  return text + "; " + loop.body[loop.carried[g[id].index]].name + ")";
}

Text print(const Graph& g, NodeId id, const Names& names) {
  const Node& node = g[id];
  if (const auto it = names.find(id); it != names.end()) return {it->second, kAtom};
  if (node.is_variable()) return {node.name, kAtom};
  if (node.kind == NodeKind::kConstant) {
    const std::string text = number_text(node);
    return {text, text[0] == '-' ? kUnary : kAtom};
  }
  const auto at_level = [&](std::size_t i, int level) {
    const Text part = print(g, node.arguments[i], names);
    return part.level < level ? "(" + part.text + ")" : part.text;
  };
  const Infix infix = infix_of(node.op);
  if (!infix.text.empty()) {
    // Comparisons do not chain, so neither side may be another comparison.
    const int left = infix.level == 6 || infix.level == 7 ? 8 : infix.level;
    const int right = left == infix.level ? infix.level + 1 : left;
    return {at_level(0, left) + " " + std::string(infix.text) + " " + at_level(1, right),
            infix.level};
  }
  switch (node.op) {
  case Op::kNeg: return {"-" + at_level(0, kUnary), kUnary};
  case Op::kLogicalNot: return {"!" + at_level(0, kUnary), kUnary};
  case Op::kBitwiseNot: return {"~" + at_level(0, kUnary), kUnary};
  default: break;
  }
  if (node.loop) return {loop_text(g, id, names), kAtom};
  std::string text = std::string(intrinsic(node.op).name) + "(";
  for (std::size_t i = 0; i < node.arguments.size(); ++i)
    text += (i == 0 ? "" : ", ") + print(g, node.arguments[i], names).text;
  return {text + ")", kAtom};
}

constexpr double kLongText = 60;  // calls, counting repetitions

/// Calls in the text without names; a double, since sharing makes it exponential.
double expanded_calls(const Graph& g, const std::vector<NodeId>& order) {
  std::map<NodeId, double> calls;
  for (NodeId id : order) {
    calls[id] = g[id].kind == NodeKind::kCall ? 1 : 0;
    for (NodeId argument : g[id].arguments) calls[id] += calls[argument];
  }
  return calls[order.back()];
}

}  // namespace

std::string print_readable(const Graph& graph, NodeId node) {
  const std::vector<NodeId> order = topological_order(graph, {node});
  Names names;
  if (expanded_calls(graph, order) <= kLongText) return print(graph, node, names).text;
  std::map<NodeId, int> uses;
  std::set<std::string> taken;
  for (NodeId id : order) {
    for (NodeId argument : graph[id].arguments) ++uses[argument];
    taken.insert(graph[id].name);
  }
  std::string definitions;
  int counter = 0;
  for (NodeId id : order) {
    if (graph[id].kind != NodeKind::kCall || uses[id] < 2) continue;
    std::string name;
    do name = "t" + std::to_string(counter++);
    while (taken.count(name) != 0);
    definitions += name + " = " + print(graph, id, names).text + "; ";
    names[id] = name;
  }
  return definitions + print(graph, node, names).text;
}

}  // namespace tenon::codegen::expr
