#include <algorithm>

#include "aten/core/parallel.h"
#include "aten/iterator/mixed.h"
#include "tenon/ops/normal.h"
#include "tenon/ops/uniform.h"

namespace tenon::native {
namespace {

/// How many numbers are drawn before they are used: what the second-level cache holds, and more
/// where each piece wakes threads. A multiple of the 16 that normal numbers are drawn by.
int64_t piece_size() { return get_num_threads() == 1 ? int64_t{1} << 16 : int64_t{1} << 20; }

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

/// Whether elements are drawn in the order in which all operands have them, one after the other.
bool in_one_order(IntArrayRef shape, ArrayRef<const TensorBase*> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const TensorBase* t) {
    return t->dim() == 0 || (t->is_contiguous() && t->sizes() == shape);
  });
}

/// `count` elements of a contiguous tensor from `begin` on; a single value as it is.
TensorBase piece_of(const TensorBase& t, int64_t begin, int64_t count) {
  if (t.dim() == 0) return t;
  return make_view(make_detached(t), {count}, {1}, t.storage_offset() + begin);
}

}  // namespace

void pointwise_mixed(const PointwiseOp& op, ArrayRef<Draw> draws, uint32_t masks,
                     ArrayRef<const TensorBase*> inputs, ArrayRef<const Scalar*> scalars,
                     const std::optional<Generator>& generator, TensorBase* outs) {
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
  const TensorBase* operands[kMaxOperands];
  std::copy(inputs.begin(), inputs.end(), operands);

  const int64_t numel = outs[0].numel(), piece = piece_size();
  if (draws.size() == 1 && device.is_cpu() && numel >= 2 * piece && in_one_order(shape, inputs)) {
    const TensorBase numbers = empty({2 * piece}, real, device);
    TensorBase parts[kMaxOperands], results[kMaxOperands];
    for (int64_t begin = 0, count = 0; begin < numel; begin += count) {
      // The last piece is no short one: below 16 normal numbers are drawn otherwise.
      count = numel - begin < 2 * piece ? numel - begin : piece;
      for (size_t k = 0; k < inputs.size(); ++k) {
        parts[k] = piece_of(*inputs[k], begin, count);
        operands[k] = &parts[k];
      }
      for (int k = 0; k < op.num_outputs; ++k) {
        results[k] = piece_of(outs[k], begin, count);
        outputs[k] = &results[k];
      }
      const TensorBase drawn = piece_of(numbers, 0, count);
      fill(drawn, draws[0], generator);
      operands[inputs.size()] = &drawn;
      run_pointwise(op, {count}, types, device, {outputs, op.num_outputs},
                    {operands, op.num_inputs}, scalars, true);
    }
    return;
  }
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
