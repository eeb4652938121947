#include "codegen/emit/rowwise.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/expr/append_new.h"
#include "codegen/expr/differentiate.h"
#include "codegen/expr/differentiate_rows.h"
#include "codegen/expr/infer.h"
#include "codegen/expr/print_readable.h"
#include "codegen/expr/print_tensor.h"
#include "codegen/expr/row_schedule.h"
#include "codegen/model/cpp_types.h"
#include "codegen/model/row_expression.h"

namespace tenon::codegen {
namespace {

using expr::Domain;
using expr::NodeId;
using expr::NodeKind;
using expr::Op;

/// Schedules the outputs and says what the kernel reads.
class KernelEmitter {
 public:
  KernelEmitter(const Operator& op, RowExpression& row, std::string ident)
      : op_(op), row_(row), g_(row.expression.graph) {
    kernel_.ident = std::move(ident);
  }

  ir::RowKernel run(const std::vector<NodeId>& outputs, const std::vector<ir::RowKind>& kinds) {
    describe(outputs);
    const expr::RowSchedule schedule = expr::schedule_rows(g_, outputs, kinds);
    kernel_.num_spills = schedule.num_spills;
    kernel_.needs_elements = schedule.needs_elements;
    kernel_.num_passes = schedule.num_passes();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool mask = g_[outputs[i]].value_kind == expr::ValueKind::kMask;
      kernel_.outputs.push_back({kinds[i], mask               ? ir::RowDtype::kBool
                                           : sums(outputs[i]) ? ir::RowDtype::kSum
                                                              : ir::RowDtype::kCommon});
    }
    for (const expr::RowStep& step : schedule.steps) kernel_.steps.push_back(emit_step(step));
    kernel_.cuda = emit_cuda(outputs, kinds);
    return std::move(kernel_);
  }

 private:
  void describe(const std::vector<NodeId>& outputs) {
    for (const NodeId output : outputs)
      kernel_.floating |= expr::infer_types(g_, output).computes_floating;
    // Arguments in the schema's order, after gradients and results.
    std::vector<const expr::Node*> nodes;
    for (const NodeId id : expr::topological_order(g_, outputs)) {
      const expr::Node& node = g_[id];
      kernel_.uses_index |= node.is_call(Op::kRowIndex);
      if (node.kind == NodeKind::kScalar) kernel_.scalars.push_back(node.name);
      if (node.is_variable() && node.kind != NodeKind::kScalar) nodes.push_back(&node);
    }
    for (const expr::Node* node : nodes) {
      const bool column =
          node->kind == NodeKind::kTensor && holds_name(op_.rowwise->columns, node->name);
      const auto absent = row_.defaults.find(node->name);
      ir::RowInput input;
      input.name = node->name;
      input.kind = column                         ? ir::RowKind::kColumn
                   : node->domain == Domain::kRow ? ir::RowKind::kRow
                                                  : ir::RowKind::kElement;
      input.position = node->kind == NodeKind::kTensor && row_.positions.contains(node->name);
      input.optional = node->kind == NodeKind::kTensor && absent != row_.defaults.end();
      if (input.optional) input.absent = expr::double_literal(absent->second);
      kernel_.inputs.push_back(std::move(input));
    }
  }

  /// Integers add up in int64.
  bool sums(NodeId output) {
    for (const NodeId id : expr::topological_order(g_, {output})) {
      if (g_[id].is_call(Op::kRowSum) || g_[id].is_call(Op::kRowProd)) return true;
    }
    return false;
  }

  /// The CUDA kernel's steps. What several of them read stays in a thread's registers where the row
  /// is short.
  ir::CudaRows emit_cuda(const std::vector<NodeId>& outputs,
                         const std::vector<ir::RowKind>& kinds) {
    const expr::RowSchedule schedule =
        expr::schedule_rows(g_, outputs, kinds, expr::DearValues::kRepeated);
    ir::CudaRows cuda;
    std::map<std::string, int> passes;
    for (const expr::RowStep& step : schedule.steps) {
      cuda.steps.push_back(emit_step(step));
      if (step.kind != expr::RowStep::Kind::kPass) continue;
      for (const std::string& name : step.loads) ++passes[name];
    }
    for (size_t k = 0; k < kernel_.inputs.size(); ++k) {
      const ir::RowInput& input = kernel_.inputs[k];
      if (input.kind == ir::RowKind::kElement && passes[input.name] > 1) cuda.kept.push_back(k);
    }
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (kinds[k] == ir::RowKind::kColumn) cuda.sums.push_back(k);
    }
    return cuda;
  }

  ir::RowStep emit_step(const expr::RowStep& step) {
    ir::RowStep result = {step, std::nullopt};
    for (size_t k = 0; k < kernel_.inputs.size(); ++k) {
      if (kernel_.inputs[k].name == step.position) result.position = k;
    }
    return result;
  }

  const Operator& op_;
  RowExpression& row_;
  expr::Graph& g_;
  ir::RowKernel kernel_;
};

/// The same computation with operators: on other devices, and where a gradient is recorded itself.
class ComposedEmitter {
 public:
  ComposedEmitter(const Operator& op, RowExpression& row) : op_(op), row_(row) {
    for (const auto& argument : op.schema.args) {
      if (argument.type.holds_tensors() || argument.type.is(schema::BaseType::kScalar)) continue;
      options_.plain_scalars.insert(argument.name);
    }
  }

  std::string text(NodeId output) {
    expr::Graph& g = row_.expression.graph;
    // A position that is not needed may be out of range: element 0 is read instead.
    std::map<NodeId, NodeId> replacements;
    for (const auto& [pick, needed] : expr::needed_picks(g, {output})) {
      if (g[needed].kind == NodeKind::kConstant) continue;
      const std::vector<NodeId> arguments = g[pick].arguments;
      const NodeId position = g.call(Op::kWhere, {needed, arguments[1], g.integer(0)});
      replacements[pick] = g.call(Op::kPick, {arguments[0], position});
    }
    const NodeId node = expr::substitute(g, output, replacements);
    for (const NodeId id : expr::topological_order(g, {node})) {
      if (!g[id].is_variable() || g[id].kind == NodeKind::kScalar) continue;
      options_.rename[g[id].name] = g[id].name + "_rows_";
      convert(g[id]);
    }
    const expr::TensorText printed = expr::print_tensor_ops(g, node, options_);
    operators_.insert(printed.operators.begin(), printed.operators.end());
    return printed.text;
  }

  std::vector<ir::RowConversion> conversions() const { return conversions_; }
  std::vector<std::string> operators() const {
    // Those of the conversions as well.
    std::set<std::string> all = operators_;
    all.insert({"expand", "full", "permute", "reshape", "sum"});
    return {all.begin(), all.end()};
  }

 private:
  void convert(const expr::Node& node) {
    if (!converted_.insert(node.name).second) return;
    const bool column =
        node.kind == NodeKind::kTensor && holds_name(op_.rowwise->columns, node.name);
    const auto absent = row_.defaults.find(node.name);
    ir::RowConversion conversion;
    conversion.name = node.name;
    conversion.kind = column                        ? ir::RowKind::kColumn
                      : node.domain == Domain::kRow ? ir::RowKind::kRow
                                                    : ir::RowKind::kElement;
    conversion.optional = node.kind == NodeKind::kTensor && absent != row_.defaults.end();
    if (conversion.optional) conversion.absent = expr::double_literal(absent->second);
    conversions_.push_back(std::move(conversion));
  }

  const Operator& op_;
  RowExpression& row_;
  expr::TensorTextOptions options_;
  std::set<std::string> operators_, converted_;
  std::vector<ir::RowConversion> conversions_;
};

ir::RowKind output_kind(const expr::Graph& g, NodeId node) {
  return g[node].domain == Domain::kRow ? ir::RowKind::kRow : ir::RowKind::kElement;
}

std::string first_element(const Operator& op) {
  for (const schema::Argument& argument : op.schema.args) {
    const bool placed = holds_name(op.rowwise->rows, argument.name) ||
                        holds_name(op.rowwise->columns, argument.name);
    if (argument.type.is_tensor() && !placed) return argument.name;
  }
  return "";
}

}  // namespace

std::string row_shape_text(const Operator& op) {
  const RowwiseSpec& spec = *op.rowwise;
  std::string elements;
  for (const schema::Argument& argument : op.schema.args) {
    if (!argument.type.is_tensor() || holds_name(spec.rows, argument.name) ||
        holds_name(spec.columns, argument.name)) {
      continue;
    }
    elements += (elements.empty() ? "&" : ", &") + argument.name;
  }
  std::string function = "row_shape", dims = spec.over->text;
  if (const schema::Argument* argument = op.schema.find_arg(dims)) {
    const schema::Type type = argument->type.without_optional();
    if (type.is_list() && type.base == schema::BaseType::kSymInt) function = "row_shape_of_sizes";
    if (!type.is_list()) dims = "tenon::IntArrayRef({" + dims + "})";
  } else if (dims == "all") {
    dims = "::std::nullopt";
  } else {
    dims = "tenon::IntArrayRef({" + dims + "})";
  }
  const bool keepdim = op.schema.find_arg("keepdim") != nullptr;
  return "tenon::native::" + function + "(\"" + op.schema.name + "\", {" + elements + "}, " + dims +
         ", " + (keepdim ? "keepdim" : "false") + ")";
}

ir::Rowwise emit_rowwise(const Operator& op) {
  RowExpression row = parse_rowwise(op);
  const std::vector<NodeId> outputs = row.expression.outputs;
  std::vector<ir::RowKind> kinds;
  for (const NodeId output : outputs) kinds.push_back(output_kind(row.expression.graph, output));
  ir::Rowwise result;
  ComposedEmitter composer(op, row);
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.composed.push_back({kinds[i], composer.text(outputs[i])});
    result.readable.push_back(expr::print_readable(row.expression.graph, outputs[i]));
  }
  result.shape = row_shape_text(op);
  result.kernel = KernelEmitter(op, row, cpp_identifier(op.schema)).run(outputs, kinds);
  result.conversions = composer.conversions();
  result.like = first_element(op);
  result.operators = composer.operators();
  return result;
}

std::optional<RowwiseGradients>
emit_rowwise_gradients(const Operator& op,
                       const std::function<size_t(const std::string&)>& input_index) {
  RowwiseGradients out;
  RowExpression row = parse_rowwise(op);
  const expr::RowDerivative derivative = expr::differentiate_rows(row.expression);
  const expr::Graph& g = row.expression.graph;
  std::vector<NodeId> outputs;
  std::vector<ir::RowKind> kinds;
  ComposedEmitter composer(op, row);
  for (const expr::RowGradient& gradient : derivative.gradients) {
    ir::RowGradient one;
    one.input = input_index(gradient.input);
    one.kind = holds_name(op.rowwise->columns, gradient.input) ? ir::RowKind::kColumn
               : holds_name(op.rowwise->rows, gradient.input)  ? ir::RowKind::kRow
                                                               : ir::RowKind::kElement;
    one.text = composer.text(gradient.node);
    one.readable = expr::print_readable(g, gradient.node);
    // With or without the reduced dimensions, as the argument was.
    if (one.kind == ir::RowKind::kRow) one.sizes = gradient.input + "_sizes";
    outputs.push_back(gradient.node);
    kinds.push_back(one.kind);
    out.gradients.gradients.push_back(std::move(one));
  }
  const std::vector<NodeId>& results = row.expression.outputs;
  const auto first = std::find_if(results.begin(), results.end(), [&](NodeId id) {
    return g[id].value_kind != expr::ValueKind::kMask;
  });
  if (outputs.empty() || first == results.end()) return std::nullopt;
  ir::RowKernel& kernel = out.gradients.kernel;
  kernel = KernelEmitter(op, row, cpp_identifier(op.schema) + "_backward").run(outputs, kinds);
  if (kernel.inputs.empty()) {  // all gradients are zero; the dtype and device are still grad's
    const size_t i = static_cast<size_t>(first - results.begin());
    ir::RowInput grad;
    grad.name = expr::grad_name(i, results.size());
    grad.kind = output_kind(g, *first);
    kernel.inputs.push_back(std::move(grad));
  }
  // A gradient is of a floating type, whatever it is made of.
  kernel.floating = true;
  for (const NodeId id : expr::topological_order(g, outputs)) {
    const expr::Node& node = g[id];
    const bool kept = node.kind == NodeKind::kTensor || node.kind == NodeKind::kResult ||
                      node.kind == NodeKind::kScalar;
    if (kept) expr::append_new(out.saved, node.name);
  }
  out.gradients.conversions = composer.conversions();
  out.gradients.operators = composer.operators();
  return out;
}

}  // namespace tenon::codegen
