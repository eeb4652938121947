#include "codegen/expr/graph/print_kernel.h"

#include <array>
#include <charconv>
#include <cmath>
#include <set>

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
    for (NodeId id : order_) {
      if (g_[id].kind != NodeKind::kCall || uses_[id] < 2) continue;
      const std::string name = names_.next_temporary();
      text.statements.push_back("const auto " + name + " = " + call(id) + ";");
      temporaries_[id] = name;
    }
    for (NodeId output : outputs) {
      const std::string value = reference(output);
      text.results.push_back(g_[output].value_kind == ValueKind::kMask
                                 ? function("from_mask") + typed() + "(" + value + ")"
                                 : value);
    }
    return text;
  }

 private:
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
