// Operators that exercise comparison, scalars, masks, integers and the functions worth timing.
#include "aten/core/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/aten/iterator/more_samples.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "aten/cpu/vec/pointwise_loop-inl.h"

#ifndef TENON_SAMPLE_UNARY
#define TENON_SAMPLE_UNARY(M) \
  M(exp, 12)                  \
  M(tanh, 20)                 \
  M(sigmoid, 16) M(erf, 26) M(log1p, 22) M(expm1, 22) M(log, 18) M(rsqrt, 8) M(relu, 1) M(sin, 25)
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

struct AddTensor {
  static constexpr int kInputs = 2, kOutputs = 1, kScalars = 1, kCost = 2;
  template <class V>
  static HWY_INLINE void apply(const V* in, const V* s, V* out) {
    out[0] = m::fma(s[0], in[1], in[0]);
  }
};

struct LtTensor {
  static constexpr int kInputs = 2, kOutputs = 1, kScalars = 0, kCost = 2;
  template <class V>
  static HWY_INLINE void apply(const V* in, const V*, V* out) {
    out[0] = m::from_mask<V>(m::lt(in[0], in[1]));
  }
};

struct WhereSelf {
  static constexpr int kInputs = 3, kOutputs = 1, kScalars = 0, kCost = 2;
  template <class V>
  static HWY_INLINE void apply(const V* in, const V*, V* out) {
    out[0] = m::where(m::to_mask(in[0]), in[1], in[2]);
  }
};

struct FloorDivide {
  static constexpr int kInputs = 2, kOutputs = 1, kScalars = 0, kCost = 30;
  template <class V>
  static HWY_INLINE void apply(const V* in, const V*, V* out) {
    out[0] = m::floor_divide(in[0], in[1]);
  }
};

struct Abs {
  static constexpr int kInputs = 1, kOutputs = 1, kScalars = 0, kCost = 1;
  template <class V>
  static HWY_INLINE void apply(const V* in, const V*, V* out) {
    out[0] = m::abs(in[0]);
  }
};

struct Gelu {
  static constexpr int kInputs = 1, kOutputs = 1, kScalars = 0, kCost = 30;
  template <class V>
  static HWY_INLINE void apply(const V* in, const V*, V* out) {
    const V half = m::mul(m::constant<V>(0.5), in[0]);
    out[0] = m::fma(half, m::erf(m::mul(in[0], m::constant<V>(0.70710678118654752440))), half);
  }
};

#define TENON_STRUCT(name, cost)                                                \
  struct Unary_##name {                                                         \
    static constexpr int kInputs = 1, kOutputs = 1, kScalars = 0, kCost = cost; \
    template <class V>                                                          \
    static HWY_INLINE void apply(const V* in, const V*, V* out) {               \
      out[0] = m::name(in[0]);                                                  \
    }                                                                           \
  };                                                                            \
  void name##_fill(PointwiseLoops* table) { add_loops<Unary_##name, kFloats>(table); }
TENON_SAMPLE_UNARY(TENON_STRUCT)
#undef TENON_STRUCT

void add_fill(PointwiseLoops* table) {
  add_loops<AddTensor, kFloats | kIntegers | kBoolean | kComplexes>(table);
}
void lt_fill(PointwiseLoops* table) { add_loops<LtTensor, kFloats | kIntegers | kBoolean>(table); }
void where_fill(PointwiseLoops* table) {
  add_loops<WhereSelf, kFloats | kIntegers | kBoolean | kComplexes>(table);
}
void floor_divide_fill(PointwiseLoops* table) {
  add_loops<FloorDivide, kFloats | kIntegers | kBoolean>(table);
}
void abs_fill(PointwiseLoops* table) {
  add_loops<Abs, kFloats | kIntegers | kBoolean | kComplexes>(table);
}
void gelu_fill(PointwiseLoops* table) { add_loops<Gelu, kFloats>(table); }

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "tests/aten/iterator/sample_ops.h"

namespace tenon::native {

#define TENON_SAMPLE(name) \
  HWY_EXPORT(name##_fill); \
  static TENON_POINTWISE_LOOPS(name##_loops, name##_fill)
HWY_EXPORT(add_fill);
static TENON_POINTWISE_LOOPS(add_sample_loops, add_fill) TENON_SAMPLE(lt) TENON_SAMPLE(where)
    TENON_SAMPLE(floor_divide) TENON_SAMPLE(abs) TENON_SAMPLE(gelu)

        const PointwiseOp add_op{.name = "add",
                                 .num_inputs = 2,
                                 .num_outputs = 1,
                                 .num_scalars = 1,
                                 .cpu = &add_sample_loops};
const PointwiseOp lt_op{.name = "lt",
                        .num_inputs = 2,
                        .num_outputs = 1,
                        .num_scalars = 0,
                        .promotion = Promotion::kBool,
                        .cpu = &lt_loops};
const PointwiseOp where_op{.name = "where",
                           .num_inputs = 3,
                           .num_outputs = 1,
                           .num_scalars = 0,
                           .promoting_inputs = 0b110,
                           .cpu = &where_loops};
const PointwiseOp floor_divide_op{.name = "floor_divide",
                                  .num_inputs = 2,
                                  .num_outputs = 1,
                                  .num_scalars = 0,
                                  .cost = 30,
                                  .cpu = &floor_divide_loops};
const PointwiseOp abs_op{.name = "abs",
                         .num_inputs = 1,
                         .num_outputs = 1,
                         .num_scalars = 0,
                         .promotion = Promotion::kComplexToFloat,
                         .cpu = &abs_loops};
const PointwiseOp gelu_op{.name = "gelu",
                          .num_inputs = 1,
                          .num_outputs = 1,
                          .num_scalars = 0,
                          .cost = 30,
                          .cpu = &gelu_loops};

#define TENON_UNARY_OP(name_, cost_)                           \
  TENON_SAMPLE(name_)                                          \
  const PointwiseOp name_##_op{.name = #name_,                 \
                               .num_inputs = 1,                \
                               .num_outputs = 1,               \
                               .num_scalars = 0,               \
                               .promotion = Promotion::kFloat, \
                               .cost = cost_,                  \
                               .cpu = &name_##_loops};
TENON_SAMPLE_UNARY(TENON_UNARY_OP)

}  // namespace tenon::native
#endif
