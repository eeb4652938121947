#include "codegen/emit/update.h"

#include <algorithm>

#include "codegen/emit/pointwise.h"
#include "codegen/expr/print_tensor.h"
#include "codegen/model/cpp_types.h"
#include "codegen/model/update_expression.h"

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

  std::vector<std::string> names;
  Json json = Json::array();

 private:
  void visit(NodeId id) {
    const expr::Node node = g_[id];
    if (node.kind != NodeKind::kCall || replacements_.contains(id)) return;
    if (node.domain == expr::Domain::kScalar && node.value_kind == expr::ValueKind::kValue) {
      if (const auto text = print_number(g_, id, options_)) {
        const std::string name = "number" + std::to_string(names.size()) + "_";
        replacements_[id] = g_.variable(NodeKind::kScalar, name);
        add(name, *text);
        return;
      }
    }
    for (const NodeId argument : node.arguments) visit(argument);
  }

  void add(const std::string& name, const std::string& text) {
    texts_.insert(name);
    names.push_back(name);
    json.push_back({{"name", name}, {"text", text}});
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

Json emit_kernel_for(const Operator& op, UpdateExpression update, const std::string& ident,
                     std::set<std::string>& operators) {
  expr::Graph& g = update.expression.graph;
  const std::vector<NodeId> outputs = update.expression.outputs;
  expr::TensorTextOptions options = number_options(op);
  Json composed = Json::array();
  expr::TensorTextOptions tensors = options;
  for (const std::string& name : update.given) tensors.rename[name] = "(*" + name + ")";
  for (const NodeId output : outputs) {
    const expr::TensorText text = expr::print_tensor_ops(g, output, tensors);
    operators.insert(text.operators.begin(), text.operators.end());
    composed.push_back(text.text);
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
  Json kernel = emit_kernel(ident, g, results, inputs, numbers.names);
  kernel["promotion"] = "Default";
  kernel["promoting_inputs"] = (1u << inputs.size()) - 1;
  kernel["promoting_scalars"] = 0;
  Json absent = Json::array();
  for (const schema::Argument& argument : op.schema.args) {
    if (argument.type.is_optional_tensor() && !update.given.contains(argument.name))
      absent.push_back(argument.name);
  }
  kernel["given"] = Json(update.given);
  kernel["absent"] = std::move(absent);
  kernel["written"] = update.written;
  kernel["numbers"] = std::move(numbers.json);
  kernel["composed"] = std::move(composed);
  return kernel;
}

}  // namespace

Json emit_update(const Operator& op) {
  Json kernels = Json::array();
  std::set<std::string> operators;
  DiagnosticSink none;
  for (const std::set<std::string>& given : given_sets(op.schema)) {
    const std::string ident =
        cpp_identifier(op.schema) + "_update" + std::to_string(kernels.size());
    kernels.push_back(emit_kernel_for(op, parse_update(op, given, none).value(), ident, operators));
  }
  Json written = Json::array(), reads = Json::array();
  for (const schema::Argument& argument : op.schema.args) {
    const Json one = {{"name", argument.name}, {"optional", argument.type.is_optional_tensor()}};
    if (argument.is_mutable()) written.push_back(one);
    if (argument.type.holds_tensors()) reads.push_back(one);
  }
  return {{"written", std::move(written)},
          {"reads", std::move(reads)},
          {"kernels", std::move(kernels)},
          {"operators", Json(operators)}};
}

}  // namespace tenon::codegen
