#include "codegen/meaning/row_expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "codegen/expr/graph/graph_builder.h"
#include "codegen/expr/graph/print_kernel.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/operands.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

using expr::Domain;
using expr::NodeId;
using expr::NodeKind;
using expr::Op;

expr::Functions measured(expr::Functions functions) {
  expr::measure(functions, functions.size());
  return functions;
}

/// Functions of `rowwise` beside those that every expression has.
const expr::Functions& row_functions() {
  static const expr::Functions kFunctions = measured({
      {"all", {"x"}, "sum(x == 0) == 0"},
      {"any", {"x"}, "sum(x != 0) > 0"},
      {"logsumexp",
       {"x"},
       "m = max(x); s = detach(where(isinf(m), 0, m)); s + log(sum(exp(x - s)))"},
      {"mean", {"x"}, "sum(x) / length()"},
      {"var",
       {"x", "correction"},
       // What the rounded mean leaves in the distances is taken away: 0 where all are the same.
       "d = x - sum(x) / length(); left = sum(d); squares = sum(square(d)); "
       "(squares - detach(minimum(left * (left / length()), squares))) / "
       "maximum(length() - correction, 0)"},
  });
  return kFunctions;
}

class RowParser {
 public:
  RowParser(const Operator& op, DiagnosticSink& sink)
      : op_(op), spec_(*op.as<Rowwise>()), sink_(sink) {}

  std::optional<RowExpression> run() {
    before_ = sink_.num_errors();
    declare();
    std::map<std::string, NodeId> values;
    const size_t num_outputs = op_.schema.returns.size();
    if (num_outputs == 0) return std::nullopt;  // said of the schema
    for (size_t i = 0; i < spec_.parts.size(); ++i) {
      const Rowwise::Part& part = spec_.parts[i];
      const std::string name = part.name.text.empty() ? op_.schema.return_name(0) : part.name.text;
      if (part.name.text.empty() && num_outputs > 1) {
        sink_.error(spec_.location, "`rowwise` needs an expression for each of " +
                                        std::to_string(num_outputs) + " results, by name");
        return std::nullopt;
      }
      const Location& place =
          part.name.text.empty() ? part.expression.location : part.name.location;
      if (op_.schema.find_arg(name)) {
        sink_.error(place, "`" + name + "` is an argument and can name no value");
      }
      check_used(i, name);
      if (const auto node = parse(part.expression)) {
        values[name] = *node;
        names_[name] = *node;
      } else {
        failed_ = true;
        names_[name] = result_.expression.graph.integer(0);
      }
    }
    for (size_t i = 0; i < num_outputs && !failed(); ++i) {
      const std::string name = op_.schema.return_name(i);
      if (const auto found = values.find(name); found != values.end()) {
        add_output(found->second, name);
      } else {
        sink_.error(spec_.location, "`rowwise` gives no expression for the result `" + name + "`");
      }
    }
    if (failed() || !spec_.complete) return std::nullopt;
    if (!check_read()) return std::nullopt;
    find_positions();
    result_.defaults = absent_.defaults;
    return std::move(result_);
  }

 private:
  /// A mistake may be said elsewhere.
  bool failed() const { return failed_ || sink_.num_errors() != before_; }

  void declare() {
    expr::Expression& expression = result_.expression;
    for (const schema::Argument& argument : op_.schema.args) {
      const bool tensor = argument.type.holds_tensors();
      const bool number = is_number(argument.type.without_optional());
      if (const std::string other = tensor ? "" : other_use(argument, number); !other.empty()) {
        no_values_[argument.name] = other;
        continue;
      }
      const Domain domain = !tensor                                 ? Domain::kScalar
                            : holds_name(spec_.rows, argument.name) ? Domain::kRow
                                                                    : Domain::kElement;
      names_[argument.name] =
          tensor ? expression.graph.variable(NodeKind::kTensor, argument.name, 0, domain)
                 : expression.graph.number(argument.name, argument.type.without_optional().is(
                                                              schema::BaseType::kFloat));
      expression.parameters.push_back({argument.name, tensor, tensor});
      if (argument.type.is_optional()) absent_.names.insert(argument.name);
    }
  }

  /// What an argument is that no expression computes with; empty for a number.
  std::string other_use(const schema::Argument& argument, bool number) const {
    const schema::Type type = argument.type.without_optional();
    if (argument.name == "keepdim") return "says which shape the results have";
    if (argument.name == "dtype") return "says what is computed in";
    if (is_half_to_float(argument)) return "says which dtype the results have";
    if (number && !type.is(schema::BaseType::kInt)) return "";  // `over` cannot name it
    if (is_geometry(op_, argument)) return "says what makes a row";
    return number ? "" : "is a `" + schema::to_string(type) + "`, neither a tensor nor a number";
  }

  std::optional<NodeId> parse(const SourceString& text) {
    std::vector<expr::ExprError> errors;
    expr::GraphBuilder builder(result_.expression.graph, names_,
                               {.own = &row_functions(),
                                .shared = &functions_of(op_),
                                .category = "floating",
                                .rows = true,
                                .absent = &absent_,
                                .no_values = &no_values_},
                               {op_.name()});
    const auto node = builder.add(text.text, errors);
    report(text, errors, sink_);
    return node;
  }

  void check_used(size_t i, const std::string& name) {
    for (size_t k = 0; k < op_.schema.returns.size(); ++k) {
      if (op_.schema.return_name(k) == name) return;
    }
    if (is_used_behind(spec_, i, name)) return;
    std::vector<std::string> results;
    for (size_t k = 0; k < op_.schema.returns.size(); ++k)
      results.push_back(op_.schema.return_name(k));
    sink_.error(spec_.parts[i].name.location,
                "`" + name + "` is no result and no later expression uses it" +
                    hint_of_part(name, op_.schema),
                schema::nearest(name, results));
  }

  /// An operand of a column is the same for every row as well.
  bool varies_over_rows(NodeId node) const {
    const expr::Graph& g = result_.expression.graph;
    const std::vector<NodeId> nodes = expr::topological_order(g, {node});
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
      return g[id].kind == NodeKind::kTensor && !holds_name(spec_.columns, g[id].name);
    });
  }

  bool check_read() {
    const expr::Graph& g = result_.expression.graph;
    std::set<std::string> read;
    for (const NodeId id : expr::topological_order(g, result_.expression.outputs)) {
      if (g[id].is_variable()) read.insert(g[id].name);
    }
    bool all = true;
    for (const schema::Argument& argument : op_.schema.args) {
      const bool tensor = argument.type.is_tensor() || argument.type.is_optional_tensor();
      // Lists of tensors are said elsewhere.
      if (read.contains(argument.name) || tensor != argument.type.holds_tensors()) continue;
      // The function of `check` has all arguments.
      if (!tensor && (op_.check || has_meaning(argument))) continue;
      sink_.error(op_.at(argument.name_span),
                  "no expression reads the " + std::string(tensor ? "tensor" : "argument") + " `" +
                      argument.name + "`",
                  tensor ? ""
                         : schema::nearest(argument.name, {"keepdim", "dtype", "half_to_float"}));
      all = false;
    }
    return all;
  }

  /// Of the expression for a result.
  const Location& place_of(const std::string& name) const {
    const auto part = std::find_if(spec_.parts.begin(), spec_.parts.end(),
                                   [&](const auto& one) { return one.name.text == name; });
    return part == spec_.parts.end() ? spec_.location : part->name.location;
  }

  void add_output(NodeId node, const std::string& name) {
    if (!varies_over_rows(node)) {
      sink_.error(place_of(name), "the result `" + name +
                                      "` is the same for every row: it depends "
                                      "on no element and no value of `rows`");
      return;
    }
    result_.expression.outputs.push_back(node);
  }

  /// Arguments that no expression computes with, and what the keys got wrong, said elsewhere.
  bool has_meaning(const schema::Argument& argument) const {
    const std::string& over =
        op_.as<Rowwise>()->over ? op_.as<Rowwise>()->over->text : argument.name;
    const bool misspelt = !over.empty() && std::isalpha(static_cast<unsigned char>(over[0])) != 0 &&
                          over != "all" && op_.schema.find_arg(over) == nullptr;
    return is_geometry(op_, argument) || argument.name == "dtype" || is_half_to_float(argument) ||
           holds_name(spec_.rows, argument.name) || holds_name(spec_.columns, argument.name) ||
           misspelt;
  }

  void find_positions() {
    expr::Graph& g = result_.expression.graph;
    for (const NodeId id : expr::topological_order(g, result_.expression.outputs)) {
      if (!g[id].is_call(Op::kPick)) continue;
      const expr::Node& position = g[g[id].arguments[1]];
      if (position.kind != NodeKind::kTensor) continue;
      result_.positions.insert(position.name);
      const auto absent = absent_.defaults.find(position.name);
      if (absent == absent_.defaults.end()) continue;
      if (absent->second < 0 || absent->second != std::floor(absent->second)) {
        sink_.error(spec_.location, "what stands for the absent position `" + position.name +
                                        "` must be a whole number from 0 on, got " +
                                        expr::double_literal(absent->second));
      }
    }
    for (expr::Parameter& parameter : result_.expression.parameters) {
      if (result_.positions.contains(parameter.name)) parameter.differentiable = false;
    }
  }

  const Operator& op_;
  const Rowwise& spec_;
  DiagnosticSink& sink_;
  RowExpression result_;
  expr::GraphBuilder::Names names_;
  size_t before_ = 0;
  bool failed_ = false;
  expr::AbsentOperands absent_;
  std::map<std::string, std::string> no_values_;
};

}  // namespace

bool is_geometry(const Operator& op, const schema::Argument& argument) {
  return argument.name == "keepdim" ||
         (op.as<Rowwise>()->over && op.as<Rowwise>()->over->text == argument.name);
}

bool is_half_to_float(const schema::Argument& argument) {
  return argument.name == "half_to_float" && argument.type.is(schema::BaseType::kBool) &&
         !argument.type.is_optional();
}

bool holds_name(const std::vector<LocatedName>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [&](const LocatedName& one) { return one.text == name; });
}

std::optional<RowExpression> parse_rowwise(const Operator& op, DiagnosticSink& sink) {
  if (op.as<Rowwise>()->parts.empty()) return std::nullopt;
  std::optional<RowExpression> row = RowParser(op, sink).run();
  // Without `over` mistakes are all that can be said.
  return op.as<Rowwise>()->over ? std::move(row) : std::nullopt;
}

std::vector<expr::ExprError> mistakes_in_rows(const Definition& definition,
                                              const expr::Functions& functions) {
  expr::Graph graph;
  expr::GraphBuilder::Names names;
  for (const LocatedName& parameter : definition.parameters)
    names[parameter.text] = graph.variable(NodeKind::kTensor, parameter.text, 0, Domain::kElement);
  std::vector<expr::ExprError> errors;
  expr::GraphBuilder(graph, names, {.own = &row_functions(), .shared = &functions, .rows = true},
                     {definition.name.text})
      .add(definition.body.text, errors);
  return errors;
}

bool is_function_of_expressions(std::string_view name) {
  const expr::Functions& rows = row_functions();
  return expr::find_intrinsic(name) != nullptr || expr::find_row_intrinsic(name) != nullptr ||
         expr::is_draw(name) ||
         std::any_of(rows.begin(), rows.end(), [&](const auto& one) { return one.name == name; });
}

bool reduces(const RowExpression& row) {
  const expr::Expression& expression = row.expression;
  return std::any_of(expression.outputs.begin(), expression.outputs.end(), [&](NodeId output) {
    return expression.graph[output].domain == Domain::kRow;
  });
}

RowExpression parse_rowwise(const Operator& op) {
  DiagnosticSink none;
  return std::move(parse_rowwise(op, none)).value();
}

}  // namespace tenon::codegen
