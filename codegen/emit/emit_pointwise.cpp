#include "codegen/emit/emit_pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/infer.h"
#include "codegen/expr/graph/print_kernel.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/pointwise_kernel.h"

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

/// Whether an integer of the expression is beyond int32.
bool needs_long(const expr::Graph& graph, const std::vector<NodeId>& outputs) {
  return expr::any_node(graph, outputs, [](const expr::Node& node) {
    return node.kind == expr::NodeKind::kConstant && node.integral &&
           std::abs(node.number) > std::numeric_limits<int32_t>::max();
  });
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

void unite(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& item : more) expr::append_new(all, item);
}

ir::KernelBody emit_body(const expr::Graph& graph, const std::vector<NodeId>& outputs) {
  expr::KernelText text = expr::print_kernel(graph, outputs);
  return {"",
          {},
          std::move(text.statements),
          std::move(text.results),
          expr::is_modular(graph, outputs)};
}

struct Summary {
  Promotion promotion = Promotion::kDefault;
  bool integers = true, floating = true, complex = true;
  int cost = 0;
  std::vector<std::string> compute_tensors, compute_scalars;
};

Summary summarize(const expr::Graph& graph, const std::vector<NodeId>& outputs) {
  Summary all;
  for (NodeId output : outputs) {
    const expr::TypeInfo info = expr::infer_types(graph, output);
    const Promotion promotion = promotion_of(info);
    if (promotion != Promotion::kDefault) all.promotion = promotion;
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

ir::Kernel kernel_head(const std::string& ident, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& scalars, size_t num_outputs,
                       const Summary& summary) {
  ir::Kernel kernel;
  kernel.ident = ident;
  kernel.inputs = inputs;
  kernel.scalars = scalars;
  kernel.num_outputs = num_outputs;
  kernel.promotion = summary.promotion;
  kernel.promoting_inputs = mask_of(inputs, summary.compute_tensors);
  kernel.promoting_scalars = mask_of(scalars, summary.compute_scalars);
  kernel.cost = std::clamp(summary.cost, 1, 255);
  return kernel;
}

/// Of a number a loop computes what depends on nothing else once, of a repeated input each time: a
/// part of a short body, and nothing beside a long one.
constexpr int kLongBody = 40;

/// How `body` of `kernel` is computed by `whole` of `of`, a kernel without numbers.
std::optional<ir::SameBody> same_body(const ir::Kernel& kernel, const ir::KernelBody& body,
                                      const ir::Kernel& of, const ir::KernelBody& whole) {
  const size_t operands = kernel.inputs.size() + kernel.scalars.size();
  if (of.num_outputs != 1 || kernel.num_outputs != 1 || of.inputs.size() != operands ||
      whole.statements != body.statements || whole.results != body.results)
    return std::nullopt;
  for (const std::string& type : body.types) {
    if (std::find(whole.types.begin(), whole.types.end(), type) == whole.types.end())
      return std::nullopt;
  }
  ir::SameBody same{whole.functor, {}};
  const auto place = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const std::string& name : of.inputs) {
    const int input = place(kernel.inputs, name), number = place(kernel.scalars, name);
    if (input < static_cast<int>(kernel.inputs.size())) {
      same.operands.push_back(input);
    } else if (number < static_cast<int>(kernel.scalars.size())) {
      same.operands.push_back(-1 - number);
    } else {
      return std::nullopt;
    }
  }
  return same;
}

}  // namespace

void share_bodies(const std::vector<ir::Entry*>& overloads) {
  std::vector<ir::Kernel*> kernels;
  for (ir::Entry* entry : overloads) {
    if (entry->kernel && entry->kernel->draws.empty()) kernels.push_back(&*entry->kernel);
    if (!entry->node) continue;
    for (ir::GradientKernel& kernel : entry->node->kernels) kernels.push_back(&kernel);
  }
  for (ir::Kernel* kernel : kernels) {
    if (kernel->scalars.empty() || kernel->cost < kLongBody) continue;
    for (ir::KernelBody& body : kernel->bodies) {
      for (const ir::Kernel* of : kernels) {
        if (!of->scalars.empty() || body.wraps) continue;
        for (const ir::KernelBody& whole : of->bodies) {
          if (!body.same) body.same = same_body(*kernel, body, *of, whole);
        }
      }
    }
  }
}

std::string default_text(const schema::Argument& argument, double number) {
  const schema::Type type = argument.type.without_optional();
  if (type.is(schema::BaseType::kBool)) return number != 0 ? "true" : "false";
  const std::string text = expr::double_literal(number);
  return type.is(schema::BaseType::kFloat)    ? text
         : type.is(schema::BaseType::kScalar) ? "tenon::Scalar(" + text + ")"
                                              : "static_cast<int64_t>(" + text + ")";
}

ir::Kernel emit_kernel(const std::string& ident, const expr::Graph& graph,
                       const std::vector<NodeId>& outputs, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& scalars) {
  const Summary summary = summarize(graph, outputs);
  ir::Kernel kernel = kernel_head(ident, inputs, scalars, outputs.size(), summary);
  ir::KernelBody body = emit_body(graph, outputs);
  body.functor = ident + "_functor";
  body.types = {"F32", "F64"};
  if (summary.complex) body.types.insert(body.types.end(), {"C64", "C128"});
  kernel.bodies.push_back(std::move(body));
  return kernel;
}

std::optional<std::vector<std::string>> fused_types(const Operator& op) {
  if (!op.fused_dtypes) return std::nullopt;
  const std::vector<std::string>& dtypes = *op.fused_dtypes;
  const bool has_double = std::find(dtypes.begin(), dtypes.end(), "Double") != dtypes.end();
  std::vector<std::string> types;
  // Half types are computed in float.
  if (dtypes.empty() || dtypes.size() > has_double) types.push_back("F32");
  if (dtypes.empty() || has_double) types.push_back("F64");
  return types;
}

void keep_fused_types(const Operator& op, ir::Kernel& kernel) {
  const auto kept = fused_types(op);
  if (!kept) return;
  for (ir::KernelBody& body : kernel.bodies) {
    std::erase_if(body.types, [&](const std::string& type) {
      return std::find(kept->begin(), kept->end(), type) == kept->end();
    });
  }
}

ir::ForwardKernel emit_pointwise(const Operator& op) {
  const auto parameters = pointwise_parameters(op.schema);
  const auto inputs = names_of(parameters, true);
  const auto scalars = names_of(parameters, false);
  const std::string ident = cpp_identifier(op.schema);
  const size_t num_outputs = op.schema.returns.size();
  const MixedResults mixed = mixed_results(op);
  std::vector<std::string> operands = inputs;
  operands.insert(operands.end(), mixed.drawn.begin(), mixed.drawn.end());

  // Categories with the same expressions share a functor, unless what they call differs by them.
  using Texts = std::vector<std::string>;
  using Key = std::tuple<std::vector<const PointwiseCase*>, Texts, Texts>;
  std::map<Key, size_t> body_of;
  std::map<Key, Summary> summary_of;
  std::vector<ir::KernelBody> bodies;
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
    ir::KernelBody body = emit_body(expression.graph, expression.outputs);
    const Key key = {cases, body.statements, body.results};
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
      body.functor = ident + "_functor" + (bodies.empty() ? "" : std::to_string(bodies.size()));
      body_of[key] = bodies.size();
      bodies.push_back(std::move(body));
    }
    for (const auto& [name, number] : expression.defaults)
      defaults[name] = default_text(*op.schema.find_arg(name), number);
    if (!serves(summary_of[key], category.name)) continue;
    std::vector<std::string>& types = bodies[body_of[key]].types;
    for (const char* type : category.types) {
      if (std::string_view(type) == "I32" && needs_long(expression.graph, expression.outputs))
        continue;
      types.emplace_back(type);
    }
  }
  ir::ForwardKernel kernel;
  static_cast<ir::Kernel&>(kernel) = kernel_head(ident, operands, scalars, num_outputs, summary);
  kernel.complex32 = op.has_tag(kComplex32Tag);
  kernel.unsigned_integers = op.has_tag(kUnsignedTag);
  for (auto& [name, text] : defaults) kernel.defaults.push_back({name, std::move(text)});
  kernel.masks = mixed.masks;
  kernel.draws = mixed.functions;
  if (mixed.any()) kernel.promotion = mixed.floating ? Promotion::kFloat : Promotion::kDefault;
  if (op.has_key("promote"))
    kernel.promotion = op.promotion == Promotion::kNone ? Promotion::kDefault : *op.promotion;
  // Where a condition is of floating values, `self > 0.5`, integers are as well.
  const bool of_integers =
      std::any_of(bodies.begin(), bodies.end(), [](const ir::KernelBody& body) {
        return std::find(body.types.begin(), body.types.end(), "I64") != body.types.end();
      });
  if (kernel.promotion == Promotion::kBool && !summary.integers && !of_integers)
    kernel.promotion = Promotion::kFloatToBool;
  // A number decides the dtype where a user must give it: `add(int, 1.5)` is floating, but the
  // slope of leaky_relu, which has a default, only has a value.
  uint32_t promoting = 0;
  for (size_t i = 0; i < scalars.size(); ++i) {
    const schema::Argument& argument = *op.schema.find_arg(scalars[i]);
    const bool decides = argument.type.is(schema::BaseType::kScalar) && !argument.kwarg_only &&
                         !argument.default_value && op.promotion != Promotion::kNone;
    if (decides && (kernel.promoting_scalars >> i & 1)) promoting |= 1u << i;
  }
  kernel.promoting_scalars = promoting;
  for (ir::KernelBody& body : bodies) {
    if (!body.types.empty()) kernel.bodies.push_back(std::move(body));
  }
  keep_fused_types(op, kernel);
  return kernel;
}

}  // namespace tenon::codegen
