#include "codegen/emit/pointwise.h"

#include <algorithm>
#include <map>

#include "codegen/expr/infer.h"
#include "codegen/expr/print_kernel.h"
#include "codegen/model/cpp_types.h"
#include "codegen/model/expression.h"

namespace tenon::codegen {
namespace {

using expr::NodeId;

/// Groups of compute types that one expression serves, by category of the promoted dtype.
struct Category {
  const char* name;
  std::vector<const char*> types;
};
const std::vector<Category>& categories() {
  static const std::vector<Category> kCategories = {
      {"bool", {"Bool"}},
      {"integral", {"I32", "I64"}},
      {"floating", {"F32", "F64"}},
      {"complex", {"C64", "C128"}},
  };
  return kCategories;
}

std::vector<std::string> names_of(const std::vector<expr::Parameter>& parameters, bool tensors) {
  std::vector<std::string> names;
  for (const auto& p : parameters) {
    if (p.is_tensor == tensors) names.push_back(p.name);
  }
  return names;
}

uint32_t mask_of(const std::vector<std::string>& names, const std::vector<std::string>& chosen) {
  uint32_t mask = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(chosen.begin(), chosen.end(), names[i]) != chosen.end()) mask |= 1u << i;
  }
  return mask;
}

template <class T>
void unite(std::vector<T>& all, const std::vector<T>& more) {
  for (const T& item : more) {
    if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(item);
  }
}

Json emit_body(const expr::Graph& graph, const std::vector<NodeId>& outputs) {
  const expr::KernelText text = expr::print_kernel(graph, outputs);
  return {{"statements", text.statements}, {"results", text.results}};
}

/// C++ of the number that stands for an argument where it is absent.
std::string default_text(const schema::Argument& argument, double number) {
  const schema::Type type = argument.type.without_optional();
  if (type.is(schema::BaseType::kBool)) return number != 0 ? "true" : "false";
  const std::string text = expr::double_literal(number);
  return type.is(schema::BaseType::kFloat)    ? text
         : type.is(schema::BaseType::kScalar) ? "tenon::Scalar(" + text + ")"
                                              : "static_cast<int64_t>(" + text + ")";
}

struct Summary {
  expr::Promotion promotion = expr::Promotion::kDefault;
  bool integers = true, floating = true, complex = true;
  int cost = 0;
  std::vector<std::string> compute_tensors, compute_scalars;
};

Summary summarize(const expr::Graph& graph, const std::vector<NodeId>& outputs) {
  Summary all;
  for (NodeId output : outputs) {
    const expr::TypeInfo info = expr::infer_types(graph, output);
    const expr::Promotion promotion = promotion_of(info);
    if (promotion != expr::Promotion::kDefault) all.promotion = promotion;
    all.integers &= info.integers_allowed;
    all.floating &= info.floating_allowed;
    all.complex &= info.complex_allowed;
    // Roughly the cycles per element, so that threads are started where they pay.
    all.cost += static_cast<int>(info.node_count) * (info.cost == expr::Cost::kCheap ? 1 : 2) +
                (info.cost == expr::Cost::kTranscendental ? 12 : 0);
    unite(all.compute_tensors, info.compute_tensors);
    unite(all.compute_scalars, info.compute_scalars);
  }
  return all;
}

bool serves(const Summary& summary, const std::string& category) {
  if (category == "floating") return summary.floating;
  if (category == "complex") return summary.complex;
  return summary.integers;
}

const char* promotion_name(Promotion promotion) {
  switch (promotion) {
  case Promotion::kFloat: return "IntToFloat";
  case Promotion::kBool: return "Comparison";
  case Promotion::kComplexToFloat: return "ComplexToReal";
  case Promotion::kBoolToLong: return "BoolToLong";
  case Promotion::kNone:
  case Promotion::kDefault: break;
  }
  return "Default";
}

const char* promotion_name(expr::Promotion promotion) {
  switch (promotion) {
  case expr::Promotion::kFloat: return "IntToFloat";
  case expr::Promotion::kBool: return "Comparison";
  case expr::Promotion::kDefault: break;
  }
  return "Default";
}

Json kernel_head(const std::string& ident, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& scalars, size_t num_outputs,
                 const Summary& summary) {
  return {
      {"ident", ident},
      {"inputs", inputs},
      {"scalars", scalars},
      {"num_outputs", num_outputs},
      {"promotion", promotion_name(summary.promotion)},
      {"promoting_inputs", mask_of(inputs, summary.compute_tensors)},
      {"promoting_scalars", mask_of(scalars, summary.compute_scalars)},
      {"cost", std::clamp(summary.cost, 1, 255)},
      {"bodies", Json::array()},
  };
}

}  // namespace

Json emit_kernel(const std::string& ident, const expr::Graph& graph,
                 const std::vector<NodeId>& outputs, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& scalars) {
  const Summary summary = summarize(graph, outputs);
  Json kernel = kernel_head(ident, inputs, scalars, outputs.size(), summary);
  Json body = emit_body(graph, outputs);
  body["functor"] = ident + "_functor";
  body["types"] = Json::array({"F32", "F64"});
  if (summary.complex) {
    body["types"].push_back("C64");
    body["types"].push_back("C128");
  }
  kernel["bodies"].push_back(body);
  return kernel;
}

MixedResults mixed_results(const Operator& op) {
  MixedResults mixed;
  const std::optional<expr::Expression> expression =
      op.pointwise ? differentiable_expression(op) : std::nullopt;
  if (!expression) return mixed;
  const size_t n = expression->outputs.size();
  for (size_t i = 0; i < n; ++i) {
    const NodeId output = expression->outputs[i];
    mixed.floating |= expr::infer_types(expression->graph, output).computes_floating;
    if (expression->graph[output].value_kind == expr::ValueKind::kMask) mixed.masks |= 1u << i;
  }
  // `promote` says one dtype for all results.
  const bool all = expression->draws.empty() && mixed.masks == (1u << n) - 1;
  if (all || op.has_key("promote")) mixed.masks = 0;
  for (const expr::Draw& draw : expression->draws) {
    mixed.functions.push_back(draw.function);
    mixed.drawn.push_back(expression->graph[draw.node].name);
  }
  return mixed;
}

Json emit_pointwise(const Operator& op) {
  const auto parameters = pointwise_parameters(op.schema);
  const auto inputs = names_of(parameters, true);
  const auto scalars = names_of(parameters, false);
  const std::string ident = cpp_identifier(op.schema);
  const size_t num_outputs = op.schema.returns.size();
  const MixedResults mixed = mixed_results(op);
  std::vector<std::string> operands = inputs;
  operands.insert(operands.end(), mixed.drawn.begin(), mixed.drawn.end());

  // Categories with the same expressions share a functor, unless what they call differs by them.
  using Key = std::pair<std::vector<const PointwiseCase*>, std::string>;
  std::map<Key, size_t> body_of;
  std::map<Key, Summary> summary_of;
  Json bodies = Json::array();
  std::map<std::string, std::string> defaults;
  Summary summary;
  bool first = true;
  for (const Category& category : categories()) {
    const auto cases = pointwise_cases_for(op, category.name);
    if (cases.empty()) continue;
    const expr::ParseResult parsed = parse_cases(op, cases, category.name);
    // What it calls has no expression for these dtypes.
    if (!parsed.ok()) continue;
    const expr::Expression& expression = parsed.expression;
    Json body = emit_body(expression.graph, expression.outputs);
    const Key key = {cases, body.dump()};
    if (!body_of.count(key)) {
      const Summary one = summarize(expression.graph, expression.outputs);
      summary_of[key] = one;
      if (first) {
        summary = one;
      } else {
        unite(summary.compute_tensors, one.compute_tensors);
        unite(summary.compute_scalars, one.compute_scalars);
        summary.cost = std::max(summary.cost, one.cost);
        // The rule must hold whatever the category: that of the floating case decides, without
        // one that of the integral case.
        const std::string name = category.name;
        if (name == "floating" || name == "integral") summary.promotion = one.promotion;
      }
      first = false;
      body["functor"] = ident + "_functor" + (bodies.empty() ? "" : std::to_string(bodies.size()));
      body["types"] = Json::array();
      body_of[key] = bodies.size();
      bodies.push_back(body);
    }
    for (const auto& [name, number] : expression.defaults)
      defaults[name] = default_text(*op.schema.find_arg(name), number);
    if (!serves(summary_of[key], category.name)) continue;
    for (const char* type : category.types) bodies[body_of[key]]["types"].push_back(type);
  }
  Json kernel = kernel_head(ident, operands, scalars, num_outputs, summary);
  kernel["defaults"] = Json::array();
  for (const auto& [name, text] : defaults)
    kernel["defaults"].push_back({{"name", name}, {"text", text}});
  kernel["masks"] = mixed.masks;
  kernel["draws"] = mixed.functions;
  if (mixed.any())
    kernel["promotion"] =
        promotion_name(mixed.floating ? expr::Promotion::kFloat : expr::Promotion::kDefault);
  if (op.has_key("promote")) kernel["promotion"] = promotion_name(op.promotion);
  // A number decides the dtype where a user must give it: `add(int, 1.5)` is floating, but the
  // slope of leaky_relu, which has a default, only has a value.
  uint32_t promoting = 0;
  for (size_t i = 0; i < scalars.size(); ++i) {
    const schema::Argument& argument = *op.schema.find_arg(scalars[i]);
    const bool decides = argument.type.is(schema::BaseType::kScalar) && !argument.kwarg_only &&
                         !argument.default_value && op.promotion != Promotion::kNone;
    if (decides && (kernel["promoting_scalars"].get<uint32_t>() >> i & 1)) promoting |= 1u << i;
  }
  kernel["promoting_scalars"] = promoting;
  for (Json& body : bodies) {
    if (!body["types"].empty()) kernel["bodies"].push_back(std::move(body));
  }
  return kernel;
}

}  // namespace tenon::codegen
