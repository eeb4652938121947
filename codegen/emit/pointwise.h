#pragma once

#include "codegen/emit/form.h"
#include "codegen/expr/differentiate.h"

namespace tenon::codegen {

/// Tensors of one kernel, results included: kMaxOperands of aten/iterator/plan.h.
constexpr size_t kMaxKernelTensors = 12;

/// Numbers of one kernel: bits of PointwiseOp::promoting_scalars.
constexpr size_t kMaxKernelNumbers = 32;

/// One kernel of the engine: what it reads, and its body per group of compute types.
///   {"ident", "inputs": [...], "scalars": [...], "num_outputs", "promotion", "promoting_inputs",
///    "promoting_scalars", "cost", "bodies": [{"functor", "types", "statements", "results"}]}
Json emit_kernel(const std::string& ident, const expr::Graph& graph,
                 const std::vector<expr::NodeId>& outputs, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& scalars);

/// What a `pointwise` entry has besides results of one dtype: conditions among others, random
/// numbers.
struct MixedResults {
  uint32_t masks = 0;                  ///< bit k: result k is Bool, beside others or drawn
  std::vector<std::string> functions;  ///< `uniform` or `normal`, in the order of drawing
  std::vector<std::string> drawn;      ///< the operands that stand for them
  bool floating = false;               ///< integers are computed in the default dtype
  bool any() const { return masks != 0 || !drawn.empty(); }
};
MixedResults mixed_results(const Operator& op);

/// The forward kernel of a `pointwise` entry whose expressions were checked.
Json emit_pointwise(const Operator& op);

}  // namespace tenon::codegen
