// What a generated file looks like: mul.Tensor, native_functions.yaml line 1.
#include "aten/core/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/aten/iterator/mul_sample.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/vec/pointwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

struct MulTensor {
  static constexpr int kInputs = 2, kOutputs = 1, kScalars = 0, kCost = 1;
  template <class V>
  static HWY_INLINE void apply(const V* in, [[maybe_unused]] const V* s, V* out) {
    const V self = in[0], other = in[1];
    out[0] = m::mul(self, other);
  }
};

void mul_tensor_fill(PointwiseLoops* table) {
  add_loops<MulTensor, kFloats | kIntegers | kBoolean | kComplexes>(table);
  add_byte_loop<MulTensor>(table);
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "tests/aten/iterator/sample_ops.h"

namespace tenon::native {

HWY_EXPORT(mul_tensor_fill);
static TENON_POINTWISE_LOOPS(mul_tensor_loops, mul_tensor_fill)

    const PointwiseOp mul_op{
        .name = "mul",
        .num_inputs = 2,
        .num_outputs = 1,
        .num_scalars = 0,
        .cpu = &mul_tensor_loops,
    };

}  // namespace tenon::native
#endif
