#include "codegen/emit/emit_update.h"

#include <algorithm>

#include "codegen/emit/emit_pointwise.h"
#include "codegen/expr/graph/print_tensor.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/update_expression.h"

namespace tenon::codegen {
namespace {

using expr::NodeId;
using expr::NodeKind;

/// What is made of numbers alone is computed once, in double, and not for each element.
class Numbers {
 public:
  Numbers(expr::Graph& graph, const expr::TensorTextOptions& options)
      : g_(graph), options_(options) {}

  /// The outputs with a scalar in place of every such node.
  std::vector<NodeId> take_out(const std::vector<NodeId>& outputs) {
    for (const NodeId output : outputs) visit(output);
    std::vector<NodeId> result;
    for (const NodeId output : outputs) result.push_back(substitute(g_, output, replacements_));
    // Arguments that are used as they are.
    for (const NodeId id : topological_order(g_, result)) {
      const expr::Node& node = g_[id];
      if (node.kind == NodeKind::kScalar && !texts_.contains(node.name)) {
        add(node.name, *print_number(g_, id, options_));
      }
    }
    return result;
  }

  std::vector<ir::NamedText> all;

 private:
  void visit(NodeId id) {
    const expr::Node node = g_[id];
    if (node.kind != NodeKind::kCall || replacements_.contains(id)) return;
    if (node.domain == expr::Domain::kScalar && node.value_kind == expr::ValueKind::kValue) {
      if (const auto text = print_number(g_, id, options_)) {
        const std::string name = "number" + std::to_string(all.size()) + "_";
        replacements_[id] = g_.variable(NodeKind::kScalar, name);
        add(name, *text);
        return;
      }
    }
    for (const NodeId argument : node.arguments) visit(argument);
  }

  void add(const std::string& name, const std::string& text) {
    texts_.insert(name);
    all.push_back({name, text});
  }

  expr::Graph& g_;
  const expr::TensorTextOptions& options_;
  std::map<NodeId, NodeId> replacements_;
  std::set<std::string> texts_;
};

/// C++ of the arguments as numbers: arithmetic is in double.
expr::TensorTextOptions number_options(const Operator& op) {
  expr::TensorTextOptions options;
  for (const schema::Argument& argument : op.schema.args) {
    if (argument.type.holds_tensors() || argument.type.is(schema::BaseType::kScalar)) continue;
    options.plain_scalars.insert(argument.name);
    if (!argument.type.is(schema::BaseType::kFloat))
      options.rename[argument.name] = "static_cast<double>(" + argument.name + ")";
  }
  return options;
}

ir::UpdateKernel emit_kernel_for(const Operator& op, UpdateExpression update,
                                 const std::string& ident, std::set<std::string>& operators) {
  expr::Graph& g = update.expression.graph;
  const std::vector<NodeId> outputs = update.expression.outputs;
  expr::TensorTextOptions options = number_options(op);
  ir::UpdateKernel kernel;
  expr::TensorTextOptions tensors = options;
  for (const std::string& name : update.given) tensors.rename[name] = "(*" + name + ")";
  for (const NodeId output : outputs) {
    const expr::TensorText text = expr::print_tensor_ops(g, output, tensors);
    operators.insert(text.operators.begin(), text.operators.end());
    kernel.composed.push_back(text.text);
  }
  Numbers numbers(g, options);
  const std::vector<NodeId> results = numbers.take_out(outputs);
  std::set<std::string> used;
  for (const NodeId id : expr::topological_order(g, results)) {
    if (g[id].kind == NodeKind::kTensor) used.insert(g[id].name);
  }
  // What is written decides the dtype as well, whether it is read or not.
  std::vector<std::string> inputs;
  for (const schema::Argument& argument : op.schema.args) {
    const bool written = std::find(update.written.begin(), update.written.end(), argument.name) !=
                         update.written.end();
    if (written || used.contains(argument.name)) inputs.push_back(argument.name);
  }
  std::vector<std::string> scalars;
  for (const ir::NamedText& number : numbers.all) scalars.push_back(number.name);
  static_cast<ir::Kernel&>(kernel) = emit_kernel(ident, g, results, inputs, scalars);
  kernel.promotion = Promotion::kDefault;
  kernel.promoting_inputs = (1u << inputs.size()) - 1;
  kernel.promoting_scalars = 0;
  for (const schema::Argument& argument : op.schema.args) {
    if (argument.type.is_optional_tensor() && !update.given.contains(argument.name))
      kernel.absent.push_back(argument.name);
  }
  kernel.given.assign(update.given.begin(), update.given.end());
  kernel.written = std::move(update.written);
  kernel.numbers = std::move(numbers.all);
  return kernel;
}

}  // namespace

ir::Update emit_update(const Operator& op) {
  ir::Update result;
  std::set<std::string> operators;
  DiagnosticSink none;
  for (const std::set<std::string>& given : given_sets(op.schema)) {
    const std::string ident =
        cpp_identifier(op.schema) + "_update" + std::to_string(result.kernels.size());
    result.kernels.push_back(
        emit_kernel_for(op, parse_update(op, given, none).value(), ident, operators));
  }
  for (const schema::Argument& argument : op.schema.args) {
    const ir::TensorName one = {argument.name, argument.type.is_optional_tensor()};
    if (argument.is_mutable()) result.written.push_back(one);
    if (argument.type.holds_tensors()) result.reads.push_back(one);
  }
  result.operators.assign(operators.begin(), operators.end());
  return result;
}

}  // namespace tenon::codegen
