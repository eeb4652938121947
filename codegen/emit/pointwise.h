#pragma once

#include "codegen/emit/form.h"
#include "codegen/expr/differentiate.h"

namespace tenon::codegen {

/// Tensors of one kernel, results included: kMaxOperands of aten/iterator/plan.h.
constexpr size_t kMaxKernelTensors = 12;

/// The parameters of an operator's pointwise expression: tensors and numbers, in schema order.
std::vector<expr::Parameter> pointwise_parameters(const schema::FunctionSchema& schema);

/// One kernel of the engine: what it reads, and its body per group of compute types.
///   {"ident", "inputs": [...], "scalars": [...], "num_outputs", "promotion", "promoting_inputs",
///    "promoting_scalars", "cost", "bodies": [{"functor", "types", "statements", "results"}]}
Json emit_kernel(const std::string& ident, const expr::Graph& graph,
                 const std::vector<expr::NodeId>& outputs, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& scalars);

/// The forward kernel of a `pointwise` entry. Mistakes in the expressions go to `sink`; then the
/// result is null.
Json emit_pointwise(const Operator& op, DiagnosticSink& sink);

/// The parsed expressions of a `pointwise` entry as far as its derivative is concerned (the case
/// for floating dtypes), or nothing where that failed.
std::optional<expr::Expression> differentiable_expression(const Operator& op, DiagnosticSink& sink);

/// Reports an expression's mistakes at their places in the YAML file.
void report(const SourceString& text, const std::vector<expr::ExprError>& errors,
            DiagnosticSink& sink);

}  // namespace tenon::codegen
