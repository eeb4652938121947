#include "codegen/expr/graph/print_kernel.h"

#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace tenon::codegen::expr {
namespace {

class KernelPrinter {
 public:
  KernelPrinter(const Graph& graph, const std::vector<NodeId>& outputs,
                const KernelOptions& options)
      : g_(graph), options_(options), uses_(graph.size(), 0), names_(options.rename) {
    order_ = topological_order(graph, outputs);
    for (NodeId id : order_) {
      for (NodeId argument : g_[id].arguments) ++uses_[argument];
      if (g_[id].is_variable()) names_.use(g_[id].name);
    }
    for (NodeId output : outputs) ++uses_[output];
  }

  KernelText print(const std::vector<NodeId>& outputs) {
    KernelText text;
    for (NodeId id : order_) print_statement(id, text.statements);
    for (NodeId output : outputs) {
      const std::string value = reference(output);
      text.results.push_back(g_[output].value_kind == ValueKind::kMask
                                 ? function("from_mask") + typed() + "(" + value + ")"
                                 : value);
    }
    return text;
  }

 private:
  void print_statement(NodeId id, std::vector<std::string>& statements) {
    if (g_[id].loop) {
      print_loop(id, statements);
    } else if (g_[id].kind == NodeKind::kCall && uses_[id] >= 2) {
      const std::string name = names_.next_temporary();
      statements.push_back("const auto " + name + " = " + call(id) + ";");
      temporaries_[id] = name;
    }
  }

  /// The loop of the node and of all others that are values of the same one. Lanes whose condition
  /// does not hold keep their values, so that it does not hold for them again.
  void print_loop(NodeId id, std::vector<std::string>& statements) {
    if (temporaries_.contains(id)) return;
    const Loop& loop = *g_[id].loop;
    const std::size_t count = loop.carried.size();
    KernelOptions options = options_;
    options.rename.clear();
    options.nonpositive.clear();
    std::vector<std::string> carried;
    for (std::size_t i = 0; i < g_[id].arguments.size(); ++i) {
      const NodeId outside = g_[id].arguments[i];
      std::string value = reference(outside);
      if (i < count) {
        carried.push_back(names_.next_temporary());
        statements.push_back(options_.value_type + " " + carried[i] + " = " + value + ";");
        value = carried[i];
      } else if (g_[outside].kind == NodeKind::kCall && !temporaries_.contains(outside)) {
        // What every step reads is computed before the first.
        const std::string text = std::exchange(value, names_.next_temporary());
        statements.push_back("const auto " + value + " = " + text + ";");
        temporaries_[outside] = value;
      }
      options.rename[loop.body[i < count ? loop.carried[i] : loop.captured[i - count]].name] =
          value;
    }
    for (const NodeId other : order_) {
      if (g_[other].same_loop(g_[id])) temporaries_[other] = carried[g_[other].index];
    }
    const std::string step = names_.next_temporary();
    statements.push_back("for (int " + step + " = 0; " + step + " < " + std::to_string(loop.most) +
                         "; ++" + step + ") {");
    std::vector<std::string> inside;
    KernelPrinter body(loop.body, loop.roots(), options);
    body.names_.take_from(names_);
    const bool always = loop.body[loop.condition].is_number(1);
    std::string active;
    // What the condition is made of comes first.
    const std::size_t tested = topological_order(loop.body, {loop.condition}).size();
    for (std::size_t i = 0; i <= body.order_.size(); ++i) {
      if (i == tested && !always) {
        active = body.names_.next_temporary();
        inside.push_back("const auto " + active + " = " + body.reference(loop.condition) + ";");
        inside.push_back("if (!" + function("any") + typed() + "(" + active + ")) break;");
      }
      if (i < body.order_.size()) body.print_statement(body.order_[i], inside);
    }
    std::vector<std::string> assignments;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string next = body.names_.next_temporary();
      const std::string value = body.reference(loop.next[i]);
      inside.push_back("const " + options_.value_type + " " + next + " = " + value + ";");
      assignments.push_back(
          carried[i] + " = " +
          (always ? next
                  : function("where") + "(" + active + ", " + next + ", " + carried[i] + ")") +
          ";");
    }
    names_.take_from(body.names_);
    inside.insert(inside.end(), assignments.begin(), assignments.end());
    for (const std::string& line : inside) statements.push_back("  " + line);
    statements.emplace_back("}");
  }

  std::string function(std::string_view name) const { return options_.prefix + std::string(name); }
  std::string typed() const { return "<" + options_.value_type + ">"; }

  std::string reference(NodeId id) const {
    const Node& node = g_[id];
    if (const auto it = temporaries_.find(id); it != temporaries_.end()) return it->second;
    if (node.is_variable()) return names_.of(node.name);
    if (node.kind == NodeKind::kCall) return call(id);
    const std::string constant =
        function("constant") + typed() + "(" + double_literal(node.number) + ")";
    return node.value_kind == ValueKind::kMask ? function("to_mask") + "(" + constant + ")"
                                               : constant;
  }

  bool is_private_product(NodeId id) const { return g_[id].is_call(Op::kMul) && uses_[id] == 1; }

  std::string call(NodeId id) const {
    const Node& node = g_[id];
    std::string name(intrinsic(node.op).name);
    std::vector<NodeId> arguments = node.arguments;
    if (options_.contract_fma && node.op == Op::kAdd) {
      for (std::size_t i : {0u, 1u}) {
        if (!is_private_product(node.arguments[i])) continue;
        const auto& product = g_[node.arguments[i]].arguments;
        arguments = {product[0], product[1], node.arguments[1 - i]};
        name = "fma";
        break;
      }
    }
    if (node.op == Op::kFromMask) name += typed();
    if (node.op == Op::kExp && options_.nonpositive.contains(arguments[0]))
      name = "exp_nonpositive";
    const bool quotient = options_.row_quotients && node.op == Op::kDiv &&
                          node.domain == Domain::kElement &&
                          g_[arguments[1]].domain != Domain::kElement;
    std::string text = (quotient ? "rows::quotient" : function(name)) + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i)
      text += (i == 0 ? "" : ", ") + reference(arguments[i]);
    return text + ")";
  }

  const Graph& g_;
  const KernelOptions& options_;
  std::vector<NodeId> order_;
  std::vector<std::uint32_t> uses_;
  PrintedNames names_;
  std::map<NodeId, std::string> temporaries_;
};

}  // namespace

KernelText print_kernel(const Graph& graph, const std::vector<NodeId>& outputs,
                        const KernelOptions& options) {
  return KernelPrinter(graph, outputs, options).print(outputs);
}

std::string double_literal(double value) {
  if (std::isnan(value)) return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + "std::numeric_limits<double>::infinity()";
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace tenon::codegen::expr
