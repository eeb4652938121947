#pragma once

#include <optional>

#include "aten/core/generator.h"
#include "aten/iterator/plan.h"

namespace tenon::native {

/// What an element of a random operand is drawn from: numbers in [0, 1), or normal ones of mean 0
/// and deviation 1.
enum class Draw : uint8_t { Uniform, Normal };

/// Results of a pointwise operator that draws random numbers, or of which some are Bool. Its inputs
/// are followed by an operand for each draw, of the inputs' broadcast shape and the type that is
/// computed in, double or float: what `uniform_` and `normal_` give for a tensor that lies as a
/// new result does, one draw after the other, from the generator or the device's default one. They
/// do not depend on the number of threads. Bit k of `masks`: outs[k] is Bool. Errors as those of
/// `pointwise`; "[op] expected a generator of cuda:0, got one of cpu".
TENON_API void pointwise_mixed(const PointwiseOp& op, ArrayRef<Draw> draws, uint32_t masks,
                               ArrayRef<const TensorBase*> inputs, ArrayRef<const Scalar*> scalars,
                               const std::optional<Generator>& generator, TensorBase* outs);

/// Runs the operator over outputs that exist and have the shape; null where one is not wanted.
/// `fresh`: they are not inputs as well.
void run_pointwise(const PointwiseOp& op, IntArrayRef shape, ResultTypes types, Device device,
                   ArrayRef<const TensorBase*> outputs, ArrayRef<const TensorBase*> inputs,
                   ArrayRef<const Scalar*> scalars, bool fresh);

}  // namespace tenon::native
