#include "codegen/emit/emit_gradient.h"

#include "codegen/emit/emit_pointwise.h"
#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/infer.h"
#include "codegen/expr/graph/print_readable.h"
#include "codegen/expr/graph/print_tensor.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/pointwise_kernel.h"

namespace tenon::codegen {
namespace {

using expr::GradientForm;

/// Whether one kernel can compute the gradient.
bool fits_kernel(const expr::Gradient& gradient) {
  const size_t inputs = gradient.grads.size() + gradient.tensors.size() + gradient.results.size();
  return inputs + 1 <= kMaxKernelTensors;
}

}  // namespace

PointwiseGradients join_formulas(const Operator& op, std::vector<PointwiseFormula> formulas) {
  PointwiseGradients joined;
  if (formulas.empty()) return joined;
  joined.expression.parameters = formula_parameters(op);
  for (const auto& one : formulas) {
    expr::Gradient gradient;
    gradient.node =
        expr::copy(joined.expression.graph, one.expression.graph, one.expression.outputs[0]);
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
  joined.expression.outputs = {joined.derivative.gradients[0].node};
  return joined;
}

ir::PointwiseGradient emit_gradient(const Operator& op, const expr::Expression& expression,
                                    const expr::Gradient& gradient, size_t input,
                                    std::vector<std::string>& operators) {
  expr::TensorTextOptions options;
  for (const auto& argument : op.schema.args) {
    if (argument.type.holds_tensors() || argument.type.is(schema::BaseType::kScalar)) continue;
    options.plain_scalars.insert(argument.name);
  }
  ir::PointwiseGradient out;
  out.input = input;
  out.kind = gradient.form == GradientForm::kGrad   ? ir::GradientKind::kGrad
             : gradient.form == GradientForm::kZero ? ir::GradientKind::kZero
             : fits_kernel(gradient)                ? ir::GradientKind::kKernel
                                                    : ir::GradientKind::kOperators;
  expr::TensorText text = expr::print_tensor_ops(expression.graph, gradient.node, options);
  out.text = std::move(text.text);
  for (const std::string& name : text.operators) expr::append_new(operators, name);
  out.readable = expr::print_readable(expression.graph, gradient.node);
  return out;
}

std::vector<ir::GradientKernel>
emit_gradient_kernels(const Operator& op, const PointwiseGradients& gradients,
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
  std::vector<ir::GradientKernel> kernels;
  for (const auto& set : sets) {
    std::vector<std::string> inputs;
    std::vector<std::string> scalars;
    std::vector<expr::NodeId> nodes;
    std::vector<size_t> outputs;
    std::string ident = cpp_identifier(op.schema) + "_backward";
    for (const auto* gradient : set) {
      for (uint32_t g : gradient->grads) expr::append_new(inputs, expr::grad_name(g, num_outputs));
    }
    for (const auto* gradient : set) {
      for (const auto& name : gradient->tensors) expr::append_new(inputs, name);
      for (uint32_t r : gradient->results)
        expr::append_new(inputs, expr::result_name(r, num_outputs));
      for (const auto& name : gradient->scalars) expr::append_new(scalars, name);
      nodes.push_back(gradient->node);
      outputs.push_back(input_index(gradient->input));
      ident += "_" + gradient->input;
    }
    if (inputs.size() + set.size() > kMaxKernelTensors) continue;
    kernels.push_back({emit_kernel(ident, gradients.expression.graph, nodes, inputs, scalars),
                       std::move(outputs)});
    keep_fused_types(op, kernels.back());
    kernels.back().complex32 = op.has_tag(kComplex32Tag);
  }
  return kernels;
}

}  // namespace tenon::codegen
