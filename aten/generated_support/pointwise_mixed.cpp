#include <algorithm>

#include "aten/iterator/drawn_pieces.h"
#include "aten/iterator/mixed.h"
#include "tenon/ops/normal.h"
#include "tenon/ops/uniform.h"

namespace tenon::native {
namespace {

void check_generator(const char* op, const std::optional<Generator>& generator, Device device) {
  if (!generator || !generator->defined() || device.is_meta()) return;
  const Device of = generator->device();
  TENON_CHECK(of.type() == device.type() && (!of.has_index() || of == device), "[", op,
              "] expected a generator of ", device, ", got one of ", of);
}

void fill(const TensorBase& numbers, Draw draw, const std::optional<Generator>& generator) {
  Tensor out(numbers);
  if (draw == Draw::Uniform) {
    ops::uniform_::call(out, 0, 1, generator);
  } else {
    ops::normal_::call(out, 0, 1, generator);
  }
}

}  // namespace

void pointwise_mixed(const PointwiseOp& op, const Drawing& drawing, uint32_t masks,
                     ArrayRef<const TensorBase*> inputs, ArrayRef<const Scalar*> scalars,
                     const std::optional<Generator>& generator, TensorBase* outs) {
  const ArrayRef<Draw> draws = drawing.draws;
  const ResultTypes types = result_types(op, inputs, scalars);
  const DimVector shape = broadcast_shape(inputs);
  const Device device = common_device(inputs);
  const DimVector strides = output_strides(shape, inputs);
  check_generator(op.name, generator, device);
  const ScalarType real = types.common == kDouble ? kDouble : kFloat;
  const TensorBase* outputs[kMaxOperands];
  for (int k = 0; k < op.num_outputs; ++k) {
    const bool mask = (masks >> k) & 1;
    outs[k] = empty_strided(shape, strides, mask ? kBool : types.output, device);
    outputs[k] = &outs[k];
  }
  if (drawing.cuda && device.is_cuda()) {
    run_drawing(op, drawing.cuda, shape, types, device, {outputs, op.num_outputs}, inputs, scalars,
                generator);
    return;
  }
  if (serves_drawn_pieces(draws, device, shape, inputs)) {
    run_in_drawn_pieces(op, draws[0], types, {outs, op.num_outputs}, inputs, scalars, generator);
    return;
  }
  const TensorBase* operands[kMaxOperands];
  std::copy(inputs.begin(), inputs.end(), operands);
  TensorBase drawn[kMaxOperands];
  for (size_t k = 0; k < draws.size(); ++k) {
    drawn[k] = empty_strided(shape, strides, real, device);
    operands[inputs.size() + k] = &drawn[k];
    if (!device.is_meta()) fill(drawn[k], draws[k], generator);
  }
  run_pointwise(op, shape, types, device, {outputs, op.num_outputs}, {operands, op.num_inputs},
                scalars, true);
}

}  // namespace tenon::native
