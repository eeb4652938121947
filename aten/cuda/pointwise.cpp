#include "aten/cuda/pointwise.h"

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

/// Halves the plan along its longest dimension until every part fits.
void run_parts(PointwisePlan& plan, const Scalar* scalars, PointwisePart launch,
               CUstream_st* stream) {
  if (fits(plan)) {
    launch(plan, scalars, stream);
    return;
  }
  int longest = 0;
  for (int d = 1; d < plan.ndim; ++d) {
    if (plan.sizes[d] > plan.sizes[longest]) longest = d;
  }
  const int64_t half = plan.sizes[longest] / 2;
  const int64_t per_step = plan.numel / plan.sizes[longest];
  PointwisePlan first = plan, second = plan;
  first.sizes[longest] = half;
  first.numel = per_step * half;
  second.sizes[longest] -= half;
  second.numel -= first.numel;
  for (int k = 0; k < plan.num_operands(); ++k) {
    PointwisePlan::Operand& operand = second.operands[k];
    if (operand.data)
      operand.data = static_cast<char*>(operand.data) + half * operand.strides[longest];
  }
  run_parts(first, scalars, launch, stream);
  run_parts(second, scalars, launch, stream);
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
  PointwisePlan whole = plan;
  run_parts(whole, scalars, launch, scope);
}

}  // namespace tenon::cuda
