#pragma once

#include <cstdint>

#include "aten/core/scalar.h"
#include "codegen/schema/promotion.h"

namespace tenon::native {

struct PointwisePlan;

/// The types pointwise kernels compute in. Byte, Char and Short compute in I32, Half and BFloat16
/// in F32. Bool computes in I32 with the values 0 and 1, by its own loop where an operator has one.
enum class ComputeType : uint8_t { F32, F64, I32, I64, C64, C128, Bool };
inline constexpr int kNumComputeTypes = 7;

/// A kernel over n elements of one compute type T, on contiguous memory.
///   outs[k]      n values, or null where that output is not wanted
///   ins[k]       n values if in_steps[k] is 1, one value for all if it is 0
///   stream       the outputs are wanted, all of them, aligned to kStreamAlignment, and too large
///                to be found in a cache later: they are written past the caches
/// An output may be the same memory as an input.
using PointwiseLoop = void (*)(void* const* outs, const void* const* ins, const int64_t* in_steps,
                               const Scalar* scalars, int64_t n, bool stream);
inline constexpr int64_t kStreamAlignment = 64;

/// Null where the operator is not defined for the type.
struct PointwiseLoops {
  PointwiseLoop loop[kNumComputeTypes] = {};
  /// What F32's does, over operands that are all Half or all BFloat16 in memory, and what I32's
  /// does, over operands that are all Byte or all Char; null where it is worth no loop of its own.
  PointwiseLoop half = nullptr;
  PointwiseLoop bfloat16 = nullptr;
  PointwiseLoop bytes = nullptr;
  /// For operands that are all of the dtype and compute in `compute`.
  PointwiseLoop narrow(ScalarType dtype, ComputeType compute) const {
    if (compute == ComputeType::I32)
      return dtype == ScalarType::Byte || dtype == ScalarType::Char ? bytes : nullptr;
    if (compute != ComputeType::F32) return nullptr;
    return dtype == ScalarType::Half ? half : dtype == ScalarType::BFloat16 ? bfloat16 : nullptr;
  }
};

using schema::Promotion;

/// Launches an operator's CUDA kernel over the plan on the current stream.
using CudaLauncher = void (*)(const PointwisePlan& plan, const Scalar* scalars);

/// A pointwise operator's kernels and dtype rule: what the generator emits.
struct PointwiseOp {
  const char* name;
  uint8_t num_inputs;
  uint8_t num_outputs;
  uint8_t num_scalars;
  Promotion promotion = Promotion::kDefault;
  uint32_t promoting_inputs = ~0u;   ///< bit k: input k takes part in type promotion
  uint32_t promoting_scalars = ~0u;  ///< bit k: so does scalar k
  uint8_t cost = 1;                  ///< about the vector instructions per element
  const PointwiseLoops* (*cpu)() = nullptr;
  CudaLauncher cuda = nullptr;
  bool complex32 = false;          ///< takes ComplexHalf, computed as ComplexFloat
  bool unsigned_integers = false;  ///< takes UInt16 to UInt64, computed as the same bits of Long
};

}  // namespace tenon::native
