#include "codegen/emit/rowwise.h"

#include <algorithm>
#include <map>
#include <set>

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

const char* kind_name(expr::RowOutput kind) {
  switch (kind) {
  case expr::RowOutput::kRow: return "Row";
  case expr::RowOutput::kColumn: return "Column";
  case expr::RowOutput::kElement: break;
  }
  return "Element";
}

Json named_texts(const std::vector<expr::NamedText>& texts) {
  Json json = Json::array();
  for (const auto& one : texts) json.push_back({{"name", one.name}, {"text", one.text}});
  return json;
}

/// Schedules the outputs and says what the kernel reads.
class KernelEmitter {
 public:
  KernelEmitter(const Operator& op, RowExpression& row, std::string ident)
      : op_(op), row_(row), g_(row.expression.graph), ident_(std::move(ident)) {}

  Json run(const std::vector<NodeId>& outputs, const std::vector<expr::RowOutput>& kinds) {
    describe(outputs);
    const expr::RowSchedule schedule = expr::schedule_rows(g_, outputs, kinds);
    Json kernel = {{"ident", ident_},
                   {"inputs", inputs_},
                   {"scalars", scalars_},
                   {"outputs", Json::array()},
                   {"num_spills", schedule.num_spills},
                   {"floating", floating_},
                   {"needs_elements", schedule.needs_elements},
                   {"uses_index", uses_index_},
                   {"types", Json::array({"f32", "f64"})},
                   {"num_passes", schedule.num_passes()},
                   {"steps", Json::array()}};
    if (!floating_) kernel["types"].push_back("i64");
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool mask = g_[outputs[i]].value_kind == expr::ValueKind::kMask;
      kernel["outputs"].push_back({{"kind", kind_name(kinds[i])},
                                   {"dtype", mask               ? "Bool"
                                             : sums(outputs[i]) ? "Sum"
                                                                : "Common"}});
    }
    for (const expr::RowStep& step : schedule.steps) kernel["steps"].push_back(emit_step(step));
    kernel["cuda"] = emit_cuda(outputs, kinds);
    return kernel;
  }

 private:
  void describe(const std::vector<NodeId>& outputs) {
    for (const NodeId output : outputs)
      floating_ |= expr::infer_types(g_, output).computes_floating;
    // Arguments in the schema's order, after gradients and results.
    std::vector<const expr::Node*> nodes;
    for (const NodeId id : expr::topological_order(g_, outputs)) {
      const expr::Node& node = g_[id];
      uses_index_ |= node.is_call(Op::kRowIndex);
      if (node.kind == NodeKind::kScalar) scalars_.push_back(node.name);
      if (node.is_variable() && node.kind != NodeKind::kScalar) nodes.push_back(&node);
    }
    for (const expr::Node* node : nodes) {
      const bool column =
          node->kind == NodeKind::kTensor && holds_name(op_.rowwise->columns, node->name);
      const auto absent = row_.defaults.find(node->name);
      const char* kind = column ? "Column" : node->domain == Domain::kRow ? "Row" : "Element";
      const bool optional = node->kind == NodeKind::kTensor && absent != row_.defaults.end();
      inputs_.push_back(
          {{"name", node->name},
           {"kind", kind},
           {"position", node->kind == NodeKind::kTensor && row_.positions.contains(node->name)},
           {"optional", optional},
           {"absent", optional ? expr::double_literal(absent->second) : "0.0"}});
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
  Json emit_cuda(const std::vector<NodeId>& outputs, const std::vector<expr::RowOutput>& kinds) {
    const expr::RowSchedule schedule =
        expr::schedule_rows(g_, outputs, kinds, expr::DearValues::kRepeated);
    Json cuda = {{"steps", Json::array()}, {"kept", Json::array()}, {"sums", Json::array()}};
    std::map<std::string, int> passes;
    for (const expr::RowStep& step : schedule.steps) {
      cuda["steps"].push_back(emit_step(step));
      if (step.kind != expr::RowStep::Kind::kPass) continue;
      for (const std::string& name : step.loads) ++passes[name];
    }
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (inputs_[k]["kind"] == "Element" && passes[inputs_[k]["name"]] > 1)
        cuda["kept"].push_back(k);
    }
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (kinds[k] == expr::RowOutput::kColumn) cuda["sums"].push_back(k);
    }
    return cuda;
  }

  Json emit_step(const expr::RowStep& step) {
    static const char* const kKinds[] = {"values", "pass", "pick"};
    Json reductions = Json::array(), stores = Json::array();
    for (const auto& one : step.reductions)
      reductions.push_back({{"name", one.name}, {"kind", one.kind}, {"text", one.text}});
    for (const auto& one : step.stores)
      stores.push_back({{"output", one.output}, {"text", one.text}, {"adds", one.adds}});
    Json position = nullptr;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (inputs_[k]["name"] == step.position) position = k;
    }
    return {{"kind", kKinds[static_cast<int>(step.kind)]},
            {"loads", step.loads},
            {"statements", step.statements},
            {"values", named_texts(step.values)},
            {"reductions", reductions},
            {"stores", stores},
            {"spills", named_texts(step.spills)},
            {"position", position},
            {"needed", step.needed}};
  }

  const Operator& op_;
  RowExpression& row_;
  expr::Graph& g_;
  std::string ident_;
  Json inputs_ = Json::array();
  std::vector<std::string> scalars_;
  bool floating_ = false, uses_index_ = false;
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

  Json conversions() const { return conversions_; }
  Json operators() const {
    // Those of the conversions as well.
    std::set<std::string> all = operators_;
    all.insert({"expand", "full", "permute", "reshape", "sum"});
    return Json(all);
  }

 private:
  void convert(const expr::Node& node) {
    if (!converted_.insert(node.name).second) return;
    const bool column =
        node.kind == NodeKind::kTensor && holds_name(op_.rowwise->columns, node.name);
    const auto absent = row_.defaults.find(node.name);
    const bool optional = node.kind == NodeKind::kTensor && absent != row_.defaults.end();
    conversions_.push_back({{"name", node.name},
                            {"kind", column                        ? "column"
                                     : node.domain == Domain::kRow ? "row"
                                                                   : "element"},
                            {"optional", optional},
                            {"absent", optional ? expr::double_literal(absent->second) : "0.0"}});
  }

  const Operator& op_;
  RowExpression& row_;
  expr::TensorTextOptions options_;
  std::set<std::string> operators_, converted_;
  Json conversions_ = Json::array();
};

expr::RowOutput output_kind(const expr::Graph& g, NodeId node) {
  return g[node].domain == Domain::kRow ? expr::RowOutput::kRow : expr::RowOutput::kElement;
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

Json emit_rowwise(const Operator& op) {
  RowExpression row = parse_rowwise(op);
  const std::vector<NodeId> outputs = row.expression.outputs;
  std::vector<expr::RowOutput> kinds;
  for (const NodeId output : outputs) kinds.push_back(output_kind(row.expression.graph, output));
  Json composed = Json::array();
  Json readable = Json::array();
  ComposedEmitter composer(op, row);
  for (size_t i = 0; i < outputs.size(); ++i) {
    composed.push_back({{"kind", kind_name(kinds[i])}, {"text", composer.text(outputs[i])}});
    readable.push_back(expr::print_readable(row.expression.graph, outputs[i]));
  }
  const std::string ident = cpp_identifier(op.schema);
  return {
      {"shape", row_shape_text(op)}, {"kernel", KernelEmitter(op, row, ident).run(outputs, kinds)},
      {"composed", composed},        {"conversions", composer.conversions()},
      {"like", first_element(op)},   {"operators", composer.operators()},
      {"readable", readable}};
}

RowwiseGradients emit_rowwise_gradients(const Operator& op) {
  RowwiseGradients out;
  RowExpression row = parse_rowwise(op);
  const expr::RowDerivative derivative = expr::differentiate_rows(row.expression);
  const expr::Graph& g = row.expression.graph;
  std::vector<NodeId> outputs;
  std::vector<expr::RowOutput> kinds;
  Json gradients = Json::array();
  ComposedEmitter composer(op, row);
  for (const expr::RowGradient& gradient : derivative.gradients) {
    const expr::RowOutput kind =
        holds_name(op.rowwise->columns, gradient.input) ? expr::RowOutput::kColumn
        : holds_name(op.rowwise->rows, gradient.input)  ? expr::RowOutput::kRow
                                                        : expr::RowOutput::kElement;
    outputs.push_back(gradient.node);
    kinds.push_back(kind);
    gradients.push_back({{"input", gradient.input},
                         {"kind", kind_name(kind)},
                         {"text", composer.text(gradient.node)},
                         {"readable", expr::print_readable(g, gradient.node)}});
  }
  const std::vector<NodeId>& results = row.expression.outputs;
  const auto first = std::find_if(results.begin(), results.end(), [&](NodeId id) {
    return g[id].value_kind != expr::ValueKind::kMask;
  });
  if (outputs.empty() || first == results.end()) return out;
  Json kernel = KernelEmitter(op, row, cpp_identifier(op.schema) + "_backward").run(outputs, kinds);
  if (kernel["inputs"].empty()) {  // all gradients are zero; the dtype and device are still grad's
    const size_t i = static_cast<size_t>(first - results.begin());
    kernel["inputs"].push_back({{"name", expr::grad_name(i, results.size())},
                                {"kind", kind_name(output_kind(g, *first))},
                                {"position", false},
                                {"optional", false},
                                {"absent", "0.0"}});
  }
  // A gradient is of a floating type, whatever it is made of.
  kernel["floating"] = true;
  kernel["types"] = Json::array({"f32", "f64"});
  for (const NodeId id : expr::topological_order(g, outputs)) {
    const expr::Node& node = g[id];
    const bool kept = node.kind == NodeKind::kTensor || node.kind == NodeKind::kResult ||
                      node.kind == NodeKind::kScalar;
    if (kept && std::find(out.saved.begin(), out.saved.end(), node.name) == out.saved.end())
      out.saved.push_back(node.name);
  }
  out.json = {{"kernel", std::move(kernel)},
              {"gradients", std::move(gradients)},
              {"conversions", composer.conversions()},
              {"operators", composer.operators()}};
  return out;
}

}  // namespace tenon::codegen
