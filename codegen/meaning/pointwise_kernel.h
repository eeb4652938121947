#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/model/operator.h"

namespace tenon::codegen {

/// Tensors of one kernel, results included: kMaxOperands of aten/iterator/plan.h.
constexpr size_t kMaxKernelTensors = 12;

/// Numbers of one kernel: bits of PointwiseOp::promoting_scalars.
constexpr size_t kMaxKernelNumbers = 32;

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

}  // namespace tenon::codegen
