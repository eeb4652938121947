#include "codegen/emit/gradient_kernels.h"

#include <algorithm>

#include "codegen/emit/pointwise.h"
#include "codegen/expr/infer.h"
#include "codegen/expr/print_readable.h"
#include "codegen/expr/print_tensor.h"
#include "codegen/model/cpp_types.h"
#include "codegen/model/expression.h"

namespace tenon::codegen {
namespace {

using expr::GradientForm;

/// Whether one kernel can compute the gradient.
bool fits_kernel(const expr::Gradient& gradient) {
  const size_t inputs = gradient.grads.size() + gradient.tensors.size() + gradient.results.size();
  return inputs + 1 <= kMaxKernelTensors;
}

template <class T>
void add_unique(std::vector<T>& all, const T& item) {
  if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(item);
}

}  // namespace

PointwiseGradients join_formulas(const Operator& op, std::vector<PointwiseFormula> formulas) {
  PointwiseGradients joined;
  if (formulas.empty()) return joined;
  std::vector<std::string> texts;
  for (const auto& one : formulas) {
    texts.push_back(expr::print_readable(one.expression.graph, one.expression.outputs[0]));
  }
  // The readable form parses back to an equal graph, now shared by all formulas.
  joined.expression = expr::parse_expressions(texts, formula_parameters(op)).expression;
  size_t i = 0;
  for (const auto& one : formulas) {
    expr::Gradient gradient;
    gradient.node = joined.expression.outputs[i++];
    const auto& node = joined.expression.graph[gradient.node];
    if (node.is_variable() && node.name == "grad") gradient.form = GradientForm::kGrad;
    const expr::TypeInfo info = expr::infer_types(joined.expression.graph, gradient.node);
    for (const auto& name : info.tensors) {
      if (name == "grad") {
        gradient.grads.push_back(0);
      } else if (name == "result") {
        gradient.results.push_back(0);
      } else {
        gradient.tensors.push_back(name);
      }
    }
    gradient.scalars = info.scalars;
    gradient.input = one.input;
    joined.derivative.gradients.push_back(std::move(gradient));
  }
  // From here on the expression stands for the operator's: one output.
  joined.expression.outputs.resize(1);
  return joined;
}

GradientText emit_gradient(const Operator& op, expr::Expression& expression,
                           const expr::Gradient& gradient) {
  GradientText out;
  expr::TensorTextOptions options;
  for (const auto& argument : op.schema.args) {
    if (argument.type.holds_tensors() || argument.type.is(schema::BaseType::kScalar)) continue;
    options.plain_scalars.insert(argument.name);
  }
  out.form = gradient.form == GradientForm::kGrad   ? "grad"
             : gradient.form == GradientForm::kZero ? "zero"
             : fits_kernel(gradient)                ? "kernel"
                                                    : "operators";
  const expr::TensorText text = expr::print_tensor_ops(expression.graph, gradient.node, options);
  out.text = text.text;
  out.operators = text.operators;
  out.readable = expr::print_readable(expression.graph, gradient.node);
  return out;
}

Json emit_gradient_kernels(const Operator& op, const PointwiseGradients& gradients,
                           const std::function<size_t(const std::string&)>& input_index) {
  std::vector<const expr::Gradient*> computed;
  for (const auto& gradient : gradients.derivative.gradients) {
    const bool is_kernel =
        gradient.form == GradientForm::kGeneral || gradient.form == GradientForm::kScaled;
    if (is_kernel && fits_kernel(gradient)) computed.push_back(&gradient);
  }
  std::vector<std::vector<const expr::Gradient*>> sets;
  for (const auto* one : computed) sets.push_back({one});
  if (computed.size() > 1) sets.push_back(computed);

  const size_t num_outputs = gradients.expression.outputs.size();
  Json kernels = Json::array();
  for (const auto& set : sets) {
    std::vector<std::string> inputs;
    std::vector<std::string> scalars;
    std::vector<expr::NodeId> nodes;
    Json outputs = Json::array();
    std::string ident = cpp_identifier(op.schema) + "_backward";
    for (const auto* gradient : set) {
      for (uint32_t g : gradient->grads) add_unique(inputs, expr::grad_name(g, num_outputs));
    }
    for (const auto* gradient : set) {
      for (const auto& name : gradient->tensors) add_unique(inputs, name);
      for (uint32_t r : gradient->results) add_unique(inputs, expr::result_name(r, num_outputs));
      for (const auto& name : gradient->scalars) add_unique(scalars, name);
      nodes.push_back(gradient->node);
      outputs.push_back(input_index(gradient->input));
      ident += "_" + gradient->input;
    }
    if (inputs.size() + set.size() > kMaxKernelTensors) continue;
    Json kernel = emit_kernel(ident, gradients.expression.graph, nodes, inputs, scalars);
    kernel["outputs"] = outputs;
    kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace tenon::codegen
