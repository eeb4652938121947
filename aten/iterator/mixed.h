#pragma once

#include <optional>

#include "aten/core/generator.h"
#include "aten/iterator/plan.h"

namespace tenon::native {

/// What an element of a random operand is drawn from: numbers in [0, 1), or normal ones of mean 0
/// and deviation 1.
enum class Draw : uint8_t { Uniform, Normal };

/// Launches the CUDA kernel of an operator that draws: as CudaLauncher, but the plan's inputs are
/// the tensors alone, and the numbers come from the generator's stream within the kernel.
using CudaDrawingLauncher = void (*)(const PointwisePlan& plan, const Scalar* scalars,
                                     const std::optional<Generator>& generator);

/// What an operator draws, in order, and its CUDA kernel; null where there is none.
struct Drawing {
  ArrayRef<Draw> draws;
  CudaDrawingLauncher cuda = nullptr;
};

/// Results of a pointwise operator that draws random numbers, or of which some are Bool. Its inputs
/// are followed by an operand for each draw, of the inputs' broadcast shape and the type that is
/// computed in, double or float: what `uniform_` and `normal_` give for a tensor that lies as a
/// new result does, one draw after the other, from the generator or the device's default one. They
/// do not depend on the number of threads. Bit k of `masks`: outs[k] is Bool. Errors as those of
/// `pointwise`; "[op] expected a generator of cuda:0, got one of cpu".
TENON_API void pointwise_mixed(const PointwiseOp& op, const Drawing& drawing, uint32_t masks,
                               ArrayRef<const TensorBase*> inputs, ArrayRef<const Scalar*> scalars,
                               const std::optional<Generator>& generator, TensorBase* outs);

/// Runs the operator over outputs that exist and have the shape; null where one is not wanted.
/// `is_new`: they are not inputs as well.
void run_pointwise(const PointwiseOp& op, IntArrayRef shape, ResultTypes types, Device device,
                   ArrayRef<const TensorBase*> outputs, ArrayRef<const TensorBase*> inputs,
                   ArrayRef<const Scalar*> scalars, bool is_new);

/// The same on CUDA for an operator that draws; `inputs` are its tensors alone, outputs are new.
void run_drawing(const PointwiseOp& op, CudaDrawingLauncher launcher, IntArrayRef shape,
                 ResultTypes types, Device device, ArrayRef<const TensorBase*> outputs,
                 ArrayRef<const TensorBase*> inputs, ArrayRef<const Scalar*> scalars,
                 const std::optional<Generator>& generator);

}  // namespace tenon::native
