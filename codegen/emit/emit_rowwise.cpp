#include "codegen/emit/emit_rowwise.h"

#include "codegen/emit/emit_pointwise.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/infer.h"
#include "codegen/expr/graph/print_readable.h"
#include "codegen/expr/graph/print_tensor.h"
#include "codegen/expr/rows/differentiate_rows.h"
#include "codegen/expr/rows/row_schedule.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/row_expression.h"

namespace tenon::codegen {
namespace {

using expr::Domain;
using expr::NodeId;
using expr::NodeKind;
using expr::Op;

/// Whether a call says what dtype is computed in.
bool has_dtype(const Operator& op) { return op.schema.find_arg("dtype") != nullptr; }

/// Schedules the outputs and says what the kernel reads.
class KernelEmitter {
 public:
  KernelEmitter(const Operator& op, RowExpression& row, std::string ident)
      : op_(op), row_(row), g_(row.expression.graph) {
    kernel_.ident = std::move(ident);
  }

  ir::RowKernel run(const std::vector<NodeId>& outputs, const std::vector<ir::RowKind>& kinds) {
    outputs_ = outputs;
    describe(outputs);
    const expr::RowSchedule schedule = expr::schedule_rows(g_, outputs, kinds);
    kernel_.spill_outputs = schedule.spill_outputs;
    kernel_.needs_elements = schedule.needs_elements;
    kernel_.num_passes = schedule.num_passes();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool mask = g_[outputs[i]].value_kind == expr::ValueKind::kMask;
      kernel_.outputs.push_back({kinds[i], mask                ? ir::RowDtype::kBool
                                           : whole(outputs[i]) ? ir::RowDtype::kLong
                                           : sums(outputs[i])  ? ir::RowDtype::kSum
                                                               : ir::RowDtype::kPromoted});
    }
    for (const expr::RowStep& step : schedule.steps) kernel_.steps.push_back(emit_step(step));
    fetch_ahead();
    choose_loops(schedule);
    if (op_.as<Rowwise>()->over->text != "all") join_last_values(schedule);
    for (ir::RowInput& input : kernel_.inputs) input.promotes = !input.position;
    kernel_.cuda = emit_cuda(outputs, kinds);
    if (!kernel_.integer_only) kernel_.types = {"f32", "f64"};
    if (!kernel_.floating) kernel_.types.push_back("i64");
    keep_fused();
    return std::move(kernel_);
  }

 private:
  void describe(const std::vector<NodeId>& outputs) {
    for (const NodeId output : outputs) {
      const expr::TypeInfo types = expr::infer_types(g_, output);
      kernel_.floating |= types.computes_floating;
      kernel_.integer_only |= !types.floating_allowed;
    }
    // Arguments in the schema's order, after gradients and results.
    std::vector<const expr::Node*> nodes;
    for (const NodeId id : expr::topological_order(g_, outputs)) {
      const expr::Node& node = g_[id];
      kernel_.uses_index |= node.is_call(Op::kRowIndex) || computes_with_position(node);
      if (node.kind == NodeKind::kScalar) kernel_.scalars.push_back(node.name);
      if (node.is_variable() && node.kind != NodeKind::kScalar) nodes.push_back(&node);
    }
    for (const expr::Node* node : nodes) {
      const bool column =
          node->kind == NodeKind::kTensor && holds_name(op_.as<Rowwise>()->columns, node->name);
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

  /// What the first of several passes would wait for is fetched from memory by the last that reads
  /// it and writes nothing, for the next row: memory has nothing else to do then.
  void fetch_ahead() {
    std::optional<std::vector<std::string>> first;
    ir::RowStep* last = nullptr;
    for (ir::RowStep& step : kernel_.steps) {
      if (step.kind != expr::RowStep::Kind::kPass) continue;
      const std::vector<std::string> names = elements_of(step.loads);
      if (!first) {
        first = names;
        continue;
      }
      const bool again = std::find_first_of(names.begin(), names.end(), first->begin(),
                                            first->end()) != names.end();
      if (again && step.stores.empty()) last = &step;
    }
    if (last) last->ahead = *std::move(first);
  }

  /// Those of the names that are inputs with a value per element.
  std::vector<std::string> elements_of(const std::vector<std::string>& names) const {
    std::vector<std::string> elements;
    for (const ir::RowInput& input : kernel_.inputs) {
      const bool named = std::find(names.begin(), names.end(), input.name) != names.end();
      if (named && input.kind == ir::RowKind::kElement) elements.push_back(input.name);
    }
    return elements;
  }

  /// A position that is read at is one row's own, and sums over the rows have no place for lanes of
  /// rows. Of all elements there is one row.
  void choose_loops(const expr::RowSchedule& schedule) {
    bool plain = true, stores = false;
    for (const expr::RowStep& step : schedule.steps) {
      plain &= step.kind != expr::RowStep::Kind::kPick;
      for (const expr::RowStep::Store& store : step.stores) {
        plain &= !store.adds;
        stores |= kernel_.outputs[store.output].kind != ir::RowKind::kRow;
      }
    }
    kernel_.column_major = plain && op_.as<Rowwise>()->over->text != "all";
    kernel_.reads_once = plain && schedule.num_passes() == 1 && !stores && !kernel_.integer_only;
    kernel_.int32_loops = plain && compares_elements();
  }

  /// A fused part is called with its dtypes alone.
  void keep_fused() {
    const auto kept = fused_types(op_);
    if (!kept) return;
    kernel_.types.clear();
    for (const std::string& type : *kept) kernel_.types.push_back(type == "F32" ? "f32" : "f64");
    const std::vector<std::string>& dtypes = *op_.fused_dtypes;
    kernel_.reads_once &=
        dtypes.empty() || std::any_of(dtypes.begin(), dtypes.end(),
                                      [](auto& one) { return one == "Half" || one == "BFloat16"; });
    kernel_.int32_loops = false;
  }

  /// Dear values that only results of one per row are made of: no pass waits for them, so that a
  /// vector may hold those of several rows.
  void join_last_values(const expr::RowSchedule& schedule) {
    const std::vector<expr::RowStep>& steps = schedule.steps;
    const auto is_last = [](const expr::RowStep& step) {
      return step.kind == expr::RowStep::Kind::kValues;
    };
    const auto first = std::find_if_not(steps.rbegin(), steps.rend(), is_last).base();
    const bool computes = std::any_of(
        first, steps.end(), [](const expr::RowStep& step) { return !step.values.empty(); });
    if (first == steps.begin() || !computes || !has_dear_results()) return;
    kernel_.batched_tail = static_cast<size_t>(steps.end() - first);
    std::set<std::string> defined;
    for (auto step = first; step != steps.end(); ++step) {
      for (const std::string& name : step->row_values) {
        if (!defined.contains(name)) expr::append_new(kernel_.last_reads, name);
      }
      for (const expr::NamedText& value : step->values) defined.insert(value.name);
    }
  }

  bool has_dear_results() const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (kernel_.outputs[i].kind != ir::RowKind::kRow) continue;
      for (const NodeId id : expr::topological_order(g_, {outputs_[i]})) {
        const expr::Node& node = g_[id];
        const bool dear = node.kind == NodeKind::kCall && node.domain == Domain::kRow &&
                          !expr::is_reduction(node.op) &&
                          expr::intrinsic(node.op).cost != expr::Cost::kCheap;
        if (dear) return true;
      }
    }
    return false;
  }

  /// Whether the results are elements or their positions: nothing is computed that 32 bits could be
  /// too narrow for.
  bool compares_elements() const {
    if (kernel_.floating || !kernel_.scalars.empty()) return false;
    for (const ir::RowInput& input : kernel_.inputs) {
      if (input.kind != ir::RowKind::kElement) return false;
    }
    return std::all_of(outputs_.begin(), outputs_.end(), [&](NodeId output) {
      const expr::Node& node = g_[output];
      const bool extreme = node.is_call(Op::kRowMax) || node.is_call(Op::kRowMin) ||
                           node.is_call(Op::kRowArgmax) || node.is_call(Op::kRowArgmin);
      return extreme && g_[node.arguments[0]].kind == NodeKind::kTensor;
    });
  }

  bool whole(NodeId id) const {
    return g_[id].kind == NodeKind::kCall && expr::is_whole(g_[id].op);
  }

  /// A position that is no result and nothing that `pick` reads at is a value of the compute type.
  bool computes_with_position(const expr::Node& user) const {
    for (size_t i = 0; i < user.arguments.size(); ++i) {
      const expr::Node& argument = g_[user.arguments[i]];
      const bool position = argument.is_call(Op::kRowArgmax) || argument.is_call(Op::kRowArgmin);
      if (position && !(user.is_call(Op::kPick) && i == 1)) return true;
    }
    return false;
  }

  /// Integers add up in int64. What only says where `pick` reads adds nothing.
  bool sums(NodeId output) const {
    std::vector<NodeId> next = {output};
    std::set<NodeId> seen = {output};
    while (!next.empty()) {
      const NodeId id = next.back();
      next.pop_back();
      const expr::Node& node = g_[id];
      if (node.is_call(Op::kRowSum) || node.is_call(Op::kRowProd) || whole(id)) return true;
      const size_t count = node.is_call(Op::kPick) ? 1 : node.arguments.size();
      for (size_t i = 0; i < count; ++i) {
        if (seen.insert(node.arguments[i]).second) next.push_back(node.arguments[i]);
      }
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
    ir::RowStep result = {step, std::nullopt, {}};
    for (size_t k = 0; k < kernel_.inputs.size(); ++k) {
      if (kernel_.inputs[k].name == step.position) result.position_input = k;
    }
    return result;
  }

  const Operator& op_;
  RowExpression& row_;
  expr::Graph& g_;
  std::vector<NodeId> outputs_;
  ir::RowKernel kernel_;
};

/// The same computation with operators: on other devices, and where a gradient is recorded itself.
class ComposedEmitter {
 public:
  ComposedEmitter(const Operator& op, RowExpression& row) : op_(op), row_(row) {
    for (const auto& argument : op.schema.args) {
      if (argument.type.holds_tensors() || argument.type.is(schema::BaseType::kScalar)) continue;
      // A number that may be absent goes by a name of its own, a Scalar.
      if (argument.type.is_optional()) {
        options_.rename[argument.name] = argument.name + "_number_";
      } else {
        options_.plain_scalars.insert(argument.name);
      }
    }
  }

  std::string text(NodeId output) {
    expr::Graph& g = row_.expression.graph;
    // A position that is not needed may be out of range: element 0 is read instead.
    std::map<NodeId, NodeId> replacements;
    for (const auto& [pick, needed] : expr::needed_picks(g, {output})) {
      if (g[needed].is_number(1)) continue;
      const std::vector<NodeId> arguments = g[pick].arguments;
      // A tensor either way.
      const NodeId position = g[needed].is_number(0)
                                  ? g.call(Op::kMul, {arguments[1], g.integer(0)})
                                  : g.call(Op::kWhere, {needed, arguments[1], g.integer(0)});
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
    if (has_dtype(op_)) all.insert("to");
    return {all.begin(), all.end()};
  }

 private:
  void convert(const expr::Node& node) {
    if (!converted_.insert(node.name).second) return;
    const std::string argument =
        node.kind == NodeKind::kTangent ? node.name.substr(0, node.name.size() - 2) : node.name;
    const bool column = (node.kind == NodeKind::kTensor || node.kind == NodeKind::kTangent) &&
                        holds_name(op_.as<Rowwise>()->columns, argument);
    const auto absent = row_.defaults.find(node.name);
    ir::RowConversion conversion;
    conversion.name = node.name;
    conversion.position = node.kind == NodeKind::kTensor && row_.positions.contains(node.name);
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

/// Of the numbers that may be absent: what stands for them then.
std::vector<expr::NamedText> number_defaults(const Operator& op, const RowExpression& row) {
  std::vector<expr::NamedText> defaults;
  for (const auto& [name, number] : row.defaults) {
    const schema::Argument& argument = *op.schema.find_arg(name);
    if (!argument.type.holds_tensors()) defaults.push_back({name, default_text(argument, number)});
  }
  return defaults;
}

std::string first_element(const Operator& op) {
  for (const schema::Argument& argument : op.schema.args) {
    const bool placed = holds_name(op.as<Rowwise>()->rows, argument.name) ||
                        holds_name(op.as<Rowwise>()->columns, argument.name);
    if (argument.type.is_tensor() && !placed) return argument.name;
  }
  return "";
}

/// `half_to_float`: the arguments of the call with elements in Float.
std::string arguments_as_float(const Operator& op) {
  std::string text;
  bool has = false;
  for (const schema::Argument& argument : op.schema.args) {
    const bool flag = is_half_to_float(argument);
    has |= flag;
    const bool element = argument.type.is_tensor() &&
                         !holds_name(op.as<Rowwise>()->rows, argument.name) &&
                         !holds_name(op.as<Rowwise>()->columns, argument.name);
    text += text.empty() ? "" : ", ";
    text += flag ? "false" : element ? argument.name + ".to(tenon::kFloat)" : argument.name;
  }
  return has ? text : "";
}

}  // namespace

std::string row_shape_text(const Operator& op) {
  const Rowwise& spec = *op.as<Rowwise>();
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
    if (!type.is_list()) function = "row_shape_of_dim";
  } else if (dims == "all") {
    dims = "::std::nullopt";
  } else {
    dims = "tenon::IntArrayRef({" + dims + "})";
  }
  const bool argument = op.schema.find_arg("keepdim") != nullptr;
  const char* keepdim = argument ? "keepdim" : spec.keepdim ? "true" : "false";
  const std::string& ns = op.schema.ns;
  const std::string own = (ns.empty() ? "" : ns + "::") + op.schema.name;
  return "tenon::native::" + function + "(\"" + op.reports_as.value_or(own) + "\", {" + elements +
         "}, " + dims + ", " + keepdim + ")";
}

bool is_made_of_itself(const Operator& op) {
  if (cpp_namespace(op.schema) != "tenon") return false;
  const RowExpression row = parse_rowwise(op);
  const expr::Graph& graph = row.expression.graph;
  const std::vector<NodeId> nodes = expr::topological_order(graph, row.expression.outputs);
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
    return graph[id].kind == expr::NodeKind::kCall &&
           expr::intrinsic(graph[id].op).tensor_op == op.schema.name;
  });
}

ir::Rowwise emit_rowwise(const Operator& op) {
  RowExpression row = parse_rowwise(op);
  const std::vector<NodeId> outputs = row.expression.outputs;
  std::vector<ir::RowKind> kinds;
  for (const NodeId output : outputs) kinds.push_back(output_kind(row.expression.graph, output));
  ir::Rowwise result;
  ComposedEmitter composer(op, row);
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.composed.push_back({kinds[i], ir::RowDtype::kPromoted, composer.text(outputs[i])});
    result.readable.push_back(expr::print_readable(row.expression.graph, outputs[i]));
  }
  result.shape = row_shape_text(op);
  result.kernel = KernelEmitter(op, row, cpp_identifier(op.schema)).run(outputs, kinds);
  for (size_t i = 0; i < outputs.size(); ++i)
    result.composed[i].dtype = result.kernel.outputs[i].dtype;
  result.conversions = composer.conversions();
  result.defaults = number_defaults(op, row);
  result.dtype = has_dtype(op);
  result.like = first_element(op);
  result.operators = composer.operators();
  if (op.promotion == Promotion::kElements) {
    for (ir::RowInput& input : result.kernel.inputs)
      input.promotes = input.kind == ir::RowKind::kElement;
    for (ir::ComposedRow& row : result.composed)
      row.text += ".to(" + result.like + ".scalar_type())";
    expr::append_new(result.operators, std::string("to"));
  }
  result.as_float = arguments_as_float(op);
  if (!result.as_float.empty()) expr::append_new(result.operators, std::string("to"));
  return result;
}

namespace {

/// Which of the results' gradients are read. Those of values of a row that are not given, as that
/// of a norm's mean, are no tensors of zeros: the kernel takes 0 in their place. The first is
/// always a tensor, which the dtype and device are of.
void describe_grads(RowwiseGradients& out) {
  const std::vector<bool>& differentiable = out.differentiable;
  const bool one = std::count(differentiable.begin(), differentiable.end(), true) == 1;
  for (size_t i = 0; i < differentiable.size(); ++i) {
    const std::string name = expr::grad_name(i, differentiable.size());
    for (ir::RowInput& input : out.gradients.kernel.inputs) {
      if (input.name != name) continue;
      input.optional = !out.gradients.grads.empty() && input.kind == ir::RowKind::kRow;
      out.gradients.grads.push_back(
          {name, i, input.kind, one && differentiable[i], input.optional});
      for (ir::RowConversion& conversion : out.gradients.conversions)
        if (conversion.name == name) conversion.optional = input.optional;
    }
  }
}

}  // namespace

std::optional<RowwiseGradients>
emit_rowwise_gradients(const Operator& op, const std::vector<bool>& differentiable,
                       const std::function<size_t(const std::string&)>& input_index) {
  RowwiseGradients out;
  RowExpression row = parse_rowwise(op);
  const expr::RowDerivative derivative = expr::differentiate_rows(row.expression, differentiable);
  const expr::Graph& g = row.expression.graph;
  std::vector<NodeId> outputs;
  std::vector<ir::RowKind> kinds;
  ComposedEmitter composer(op, row);
  for (const expr::RowGradient& gradient : derivative.gradients) {
    ir::RowGradient one;
    one.input = input_index(gradient.input);
    one.kind = holds_name(op.as<Rowwise>()->columns, gradient.input) ? ir::RowKind::kColumn
               : holds_name(op.as<Rowwise>()->rows, gradient.input)  ? ir::RowKind::kRow
                                                                     : ir::RowKind::kElement;
    one.text = composer.text(gradient.node);
    one.readable = expr::print_readable(g, gradient.node);
    // With or without the reduced dimensions, as the argument was.
    if (one.kind == ir::RowKind::kRow) one.sizes = gradient.input + "_sizes";
    const auto equal = std::find(outputs.begin(), outputs.end(), gradient.node);
    const size_t earlier = static_cast<size_t>(equal - outputs.begin());
    const bool elements = one.kind == ir::RowKind::kElement;
    if (elements && equal != outputs.end() && kinds[earlier] == one.kind) one.same_as = earlier;
    outputs.push_back(gradient.node);
    kinds.push_back(one.kind);
    out.gradients.gradients.push_back(std::move(one));
  }
  const std::vector<NodeId>& results = row.expression.outputs;
  for (size_t i = 0; i < results.size(); ++i)
    out.differentiable.push_back(differentiable[i] && expr::has_gradient(g, results[i]));
  const auto first = std::find_if(results.begin(), results.end(),
                                  [&](NodeId id) { return expr::has_gradient(g, id); });
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
  out.gradients.conversions = composer.conversions();
  describe_grads(out);
  // A gradient is of a floating type, whatever it is made of.
  kernel.floating = true;
  std::erase(kernel.types, "i64");
  for (const NodeId id : expr::topological_order(g, outputs)) {
    const expr::Node& node = g[id];
    const bool kept = node.kind == NodeKind::kTensor || node.kind == NodeKind::kResult ||
                      node.kind == NodeKind::kScalar;
    if (kept) expr::append_new(out.saved, node.name);
  }
  if (has_dtype(op)) expr::append_new(out.saved, std::string("dtype"));
  out.gradients.dtype = has_dtype(op);
  for (expr::NamedText& number : number_defaults(op, row)) {
    if (std::find(out.saved.begin(), out.saved.end(), number.name) != out.saved.end())
      out.gradients.defaults.push_back(std::move(number));
  }
  out.gradients.operators = composer.operators();
  return out;
}

namespace {

/// The arguments and results whose values the tangents are made of.
std::vector<ir::ForwardValue> forward_values(const Operator& op,
                                             const std::set<std::string>& used) {
  std::vector<ir::ForwardValue> values;
  for (size_t i = 0; i < op.schema.args.size(); ++i) {
    const schema::Argument& argument = op.schema.args[i];
    const bool element = argument.type.is_tensor() &&
                         !holds_name(op.as<Rowwise>()->rows, argument.name) &&
                         !holds_name(op.as<Rowwise>()->columns, argument.name);
    if (element || is_geometry(op, argument) || used.contains(argument.name))
      values.push_back({argument.name, false, i, cpp_owned_type(argument.type)});
  }
  const size_t num_results = op.schema.returns.size();
  for (size_t i = 0; i < num_results; ++i) {
    const std::string name = expr::result_name(i, num_results);
    if (used.contains(name)) values.push_back({name, true, i, ""});
  }
  return values;
}

}  // namespace

std::optional<ir::Forward> emit_rowwise_forward(const Operator& op,
                                                const std::vector<bool>& outputs,
                                                std::vector<std::string>& called) {
  if (has_dtype(op) || !number_defaults(op, parse_rowwise(op)).empty()) return std::nullopt;
  ir::Forward forward;
  forward.rule = ir::TangentRule::kFormula;
  forward.row_shape = row_shape_text(op);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) forward.formulas.push_back({{i}, "", {}});
  }
  std::set<std::string> used;
  for (size_t i = 0; i < op.schema.args.size(); ++i) {
    const schema::Argument& argument = op.schema.args[i];
    if (!argument.type.holds_tensors()) continue;
    forward.covered |= uint64_t{1} << i;
    RowExpression row = parse_rowwise(op);
    if (row.positions.contains(argument.name)) continue;
    const auto tangents = expr::row_tangents(row.expression, argument.name);
    const expr::Graph& g = row.expression.graph;
    for (ir::TangentFormula& formula : forward.formulas) {
      const std::optional<NodeId> tangent = tangents[formula.outputs[0]];
      if (!tangent) continue;
      ComposedEmitter composer(op, row);
      const ir::RowKind kind = output_kind(g, row.expression.outputs[formula.outputs[0]]);
      const std::string delivered = kind == ir::RowKind::kRow ? "from_rows" : "from_elements";
      ir::TangentTerm term;
      term.text = "tenon::native::" + delivered + "(" + composer.text(*tangent) + ", row_shape_)";
      term.tangents.push_back({argument.name + "_t", i, false});
      term.conversions = composer.conversions();
      formula.terms.push_back(std::move(term));
      formula.original +=
          (formula.original.empty() ? "" : " + ") + expr::print_readable(g, *tangent);
      for (const NodeId id : expr::topological_order(g, {*tangent})) {
        if (g[id].is_variable()) used.insert(g[id].name);
      }
      for (const std::string& name : composer.operators()) expr::append_new(called, name);
    }
  }
  forward.values = forward_values(op, used);
  return forward;
}

}  // namespace tenon::codegen
