#pragma once

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

}  // namespace tenon::cuda
