#pragma once

#include <optional>

#include "aten/core/generator.h"
#include "aten/cuda/philox.cuh"
#include "aten/iterator/plan.h"

struct CUstream_st;

namespace tenon::cuda {

/// Launches an operator's kernel for one compute type over a part of a plan that 32-bit offsets
/// reach.
using PointwisePart = void (*)(const native::PointwisePlan& part, const Scalar* scalars,
                               CUstream_st* stream);

/// Runs a pointwise operator over a plan on the current stream of the plan's GPU. `parts` has one
/// function for each compute type, null where the operator is not defined for it; without one for
/// Bool that for I32 serves. NotImplementedError "[op] is not implemented for 'Bool'".
TENON_API void run_pointwise(const char* op, const native::PointwisePlan& plan,
                             const Scalar* scalars, const PointwisePart* parts);

/// A part of a plan and the numbers that it draws: those that elements `begin` and the following of
/// the whole plan, fastest dimension first, have by draw_grid().
struct DrawnPart {
  int64_t begin;
  unsigned blocks;
  PhiloxState state;  ///< of the first draw
  uint64_t words;     ///< of each thread's stream, from one draw to the next
};

/// Launches the kernel of an operator that draws for one compute type over a part.
using DrawingPart = void (*)(const native::PointwisePlan& part, const Scalar* scalars,
                             const DrawnPart& drawn, CUstream_st* stream);

/// Runs a pointwise operator that draws `draws` numbers for each element from the generator, or
/// from the default one of the plan's GPU: those that `uniform_` and `normal_` give, one after the
/// other, for a tensor that lies as the first output does. `f32`, `f64`: by compute type.
TENON_API void run_drawing(const char* op, const native::PointwisePlan& plan, const Scalar* scalars,
                           int draws, const std::optional<Generator>& generator, DrawingPart f32,
                           DrawingPart f64);

}  // namespace tenon::cuda
