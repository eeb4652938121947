// What a generated file of a differentiable operator looks like: pointwise: silu(self) * gate.
#include "aten/core/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/aten/iterator/silu_mul_sample.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/vec/pointwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

struct SiluMul {
  static constexpr int kInputs = 2, kOutputs = 1, kScalars = 0, kCost = 20;
  template <class V>
  static HWY_INLINE void apply(const V* in, [[maybe_unused]] const V* s, V* out) {
    const V self = in[0], gate = in[1];
    out[0] = m::mul(m::mul(self, m::sigmoid(self)), gate);
  }
};

struct SiluMulBackward {
  static constexpr int kInputs = 3, kOutputs = 2, kScalars = 0, kCost = 25;
  template <class V>
  static HWY_INLINE void apply(const V* in, [[maybe_unused]] const V* s, V* out) {
    const V grad = in[0], self = in[1], gate = in[2];
    const V t0 = m::sigmoid(self);
    const V t1 = m::mul(self, t0);
    const V t2 = m::sub(m::constant<V>(1), t0);
    out[0] = m::mul(m::mul(grad, gate), m::mul(t0, m::fma(self, t2, m::constant<V>(1))));
    out[1] = m::mul(grad, t1);
  }
};

void silu_mul_fill(PointwiseLoops* table) { add_loops<SiluMul, kFloats>(table); }
void silu_mul_backward_fill(PointwiseLoops* table) { add_loops<SiluMulBackward, kFloats>(table); }

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "tests/aten/iterator/sample_ops.h"

namespace tenon::native {

HWY_EXPORT(silu_mul_fill);
static TENON_POINTWISE_LOOPS(silu_mul_loops, silu_mul_fill) HWY_EXPORT(silu_mul_backward_fill);
static TENON_POINTWISE_LOOPS(silu_mul_backward_loops, silu_mul_backward_fill)

    const PointwiseOp silu_mul_op{
        .name = "silu_mul",
        .num_inputs = 2,
        .num_outputs = 1,
        .num_scalars = 0,
        .promotion = Promotion::kFloat,
        .cost = 20,
        .cpu = &silu_mul_loops,
    };

const PointwiseOp silu_mul_backward_op{
    .name = "silu_mul_backward",
    .num_inputs = 3,
    .num_outputs = 2,
    .num_scalars = 0,
    .promotion = Promotion::kFloat,
    .cost = 25,
    .cpu = &silu_mul_backward_loops,
};

}  // namespace tenon::native
#endif
