#include "aten/cuda/cuda_pointwise.h"

#include <utility>

#include "aten/cuda/cuda_generator.h"
#include "aten/cuda/index_limit.h"
#include "aten/cuda/launch.h"

namespace tenon::cuda {
namespace {

using native::ComputeType;
using native::PointwisePlan;

bool fits(const PointwisePlan& plan) {
  const int64_t limit = index_limit();
  if (plan.numel >= limit) return false;
  for (int k = 0; k < plan.num_operands(); ++k) {
    int64_t extent = 0;
    for (int d = 0; d < plan.ndim; ++d) extent += (plan.sizes[d] - 1) * plan.operands[k].strides[d];
    if (extent >= limit) return false;
  }
  return true;
}

/// The plan's halves along a dimension.
std::pair<PointwisePlan, PointwisePlan> halves(const PointwisePlan& plan, int dim) {
  const int64_t half = plan.sizes[dim] / 2;
  const int64_t per_step = plan.numel / plan.sizes[dim];
  PointwisePlan first = plan, second = plan;
  first.sizes[dim] = half;
  first.numel = per_step * half;
  second.sizes[dim] -= half;
  second.numel -= first.numel;
  for (int k = 0; k < plan.num_operands(); ++k) {
    PointwisePlan::Operand& operand = second.operands[k];
    if (operand.data) operand.data = static_cast<char*>(operand.data) + half * operand.strides[dim];
  }
  return {first, second};
}

/// Halves the plan along its longest dimension until every part fits.
void run_parts(const PointwisePlan& plan, const Scalar* scalars, PointwisePart launch,
               CUstream_st* stream) {
  if (fits(plan)) {
    launch(plan, scalars, stream);
    return;
  }
  int longest = 0;
  for (int d = 1; d < plan.ndim; ++d) {
    if (plan.sizes[d] > plan.sizes[longest]) longest = d;
  }
  const auto [first, second] = halves(plan, longest);
  run_parts(first, scalars, launch, stream);
  run_parts(second, scalars, launch, stream);
}

/// The same along the slowest dimension, so that a part's elements follow one another.
void run_parts_in_order(const PointwisePlan& plan, const Scalar* scalars, DrawingPart launch,
                        DrawnPart drawn, CUstream_st* stream) {
  if (fits(plan)) {
    launch(plan, scalars, drawn, stream);
    return;
  }
  int slowest = plan.ndim - 1;
  while (plan.sizes[slowest] == 1) --slowest;
  const auto [first, second] = halves(plan, slowest);
  run_parts_in_order(first, scalars, launch, drawn, stream);
  drawn.begin += first.numel;
  run_parts_in_order(second, scalars, launch, drawn, stream);
}

}  // namespace

void run_pointwise(const char* op, const PointwisePlan& plan, const Scalar* scalars,
                   const PointwisePart* parts) {
  PointwisePart launch = parts[static_cast<int>(plan.compute)];
  if (!launch && plan.compute == ComputeType::Bool)
    launch = parts[static_cast<int>(ComputeType::I32)];
  TENON_CHECK_NOT_IMPLEMENTED(launch, "[", op, "] is not implemented for '", plan.common, "'");
  if (plan.numel == 0) return;
  const LaunchScope scope(plan.device);
  run_parts(plan, scalars, launch, scope);
}

void run_drawing(const char* op, const PointwisePlan& plan, const Scalar* scalars, int draws,
                 const std::optional<Generator>& generator, DrawingPart f32, DrawingPart f64) {
  const bool in_double = plan.compute == ComputeType::F64;
  TENON_CHECK_NOT_IMPLEMENTED(in_double || plan.compute == ComputeType::F32, "[", op,
                              "] is not implemented for '", plan.common, "'");
  if (plan.numel == 0) return;
  const LaunchScope scope(plan.device);
  const int count = in_double ? kDoublesPerBlock : kFloatsPerBlock;
  const DrawGrid grid = draw_grid(plan.numel, count, scope.stream().device_index());
  const PhiloxState state =
      reserve(op, generator, plan.device, grid.words() * static_cast<uint64_t>(draws));
  run_parts_in_order(plan, scalars, in_double ? f64 : f32,
                     {0, static_cast<unsigned>(grid.blocks), state, grid.words()}, scope);
}

}  // namespace tenon::cuda
