#include <algorithm>

#include "aten/iterator/blocks.h"
#include "aten/iterator/convert.h"
#include "aten/iterator/row_run.h"
#include "aten/iterator/zero_division.h"

// Row operators of few elements on the CPU, where a call costs more than what it computes.

namespace tenon::native {
namespace {

/// Whether the row's dimensions are the last ones.
bool rows_are_last(const RowShape& shape) {
  const uint64_t lowest = shape.mask & (~shape.mask + 1);
  return shape.mask == 0 || shape.mask + lowest == uint64_t{1} << shape.sizes.size();
}

constexpr int64_t kFew = 16384;  // elements

/// Bytes of a row in scratch memory, with room for a vector behind it.
size_t scratch_row(int64_t length) { return (static_cast<size_t>(length) * 8 + 127) / 64 * 64; }

/// Of all rows at once. Operands: inputs, outputs, spilled rows.
void run_block(RowLoop loop, const RowBlock::Elements* operands, int num_inputs, int num_operands,
               ArrayRef<const Scalar*> scalars, int64_t rows, int64_t length) {
  SmallVector<Scalar, 4> numbers;
  for (const Scalar* scalar : scalars) numbers.push_back(*scalar);
  RowBlock block;
  block.rows = rows;
  block.length = length;
  block.segment_length = std::max<int64_t>(length, 1);
  block.inputs = operands;
  block.outputs = operands + num_inputs;
  block.spills = operands + num_operands;
  block.padded_spills = true;
  block.scalars = numbers.data();
  loop(block);
}

}  // namespace

bool run_plain_rows(const RowOp& op, const RowShape& shape, ArrayRef<const TensorBase*> inputs,
                    ArrayRef<const Scalar*> scalars, TensorBase* outputs, uint32_t wanted) {
  const TensorBase* const first = inputs[0];
  const int num_inputs = op.num_inputs, num_operands = num_inputs + op.num_outputs;
  if (!first || !first->defined() || !rows_are_last(shape)) return false;
  for (const Scalar* scalar : scalars) {
    if (scalar->is_complex()) return false;
  }
  const ScalarType dtype = first->scalar_type();
  if (dtype != kFloat && dtype != kDouble) return false;
  SmallVector<RowBlock::Elements, 8> operands;
  operands.resize_uninitialized(static_cast<size_t>(num_operands) + op.num_spills);
  int64_t rows = 1, length = 1;
  for (size_t d = 0; d < shape.sizes.size(); ++d)
    (shape.with_row(d) ? length : rows) *= shape.sizes[d];
  const int64_t numel = rows * length;
  if (numel == 0 || numel > kFew) return false;
  for (int k = 0; k < num_inputs; ++k) {
    const TensorBase* const t = inputs[k];
    const RowInput& input = op.inputs[k];
    if (input.kind == RowOperand::Column || input.is_position || !t || !t->defined()) return false;
    const bool element = input.kind == RowOperand::Element;
    const TensorImpl& impl = *t->unsafe_impl();
    if (impl.dtype != dtype || !impl.contiguous || impl.is_wrapped_number || !impl.device.is_cpu())
      return false;
    if (element ? impl.numel != numel /* broadcast */ : !are_row_values(impl.sizes, shape))
      return false;
    operands[k] = {impl.data, element ? length : 1, length, 1};
  }
  for (int k = 0; k < op.num_outputs; ++k) {
    const RowOutput& output = op.outputs[k];
    if (output.kind == RowOperand::Column || output.dtype == RowOutput::DType::Bool) return false;
  }
  const bool one_row = !shape.keepdim && shape.mask + 1 == uint64_t{1} << shape.sizes.size();
  const RowLoops& loops = *op.cpu();
  const RowLoop loop = dtype == kFloat ? loops.row_major.f32 : loops.row_major.f64;
  if (!loop) return false;
  for (int k = 0; k < op.num_outputs; ++k) {
    const RowOutput& output = op.outputs[k];
    const bool element = output.kind == RowOperand::Element;
    operands[num_inputs + k] = {};
    if (!((wanted >> k) & 1)) continue;
    const ScalarType written = output.dtype == RowOutput::DType::Long ? kLong : dtype;
    outputs[k] = element   ? empty(shape.sizes, written, kCPU)
                 : one_row ? empty({}, written, kCPU)
                           : empty(shape.reduced_sizes(), written, kCPU);
    operands[num_inputs + k] = {outputs[k].data_ptr(), element ? length : 1, length, 1};
  }
  const size_t row_bytes = scratch_row(length);
  const Scratch scratch(op.num_spills * row_bytes);
  for (int k = 0; k < op.num_spills; ++k)
    operands[num_operands + k] = {scratch.data() + k * row_bytes, 0, 0, 1};
  run_block(loop, operands.data(), num_inputs, num_operands, scalars, rows, length);
  return true;
}

bool run_few_rows(const RowRun& run) {
  const RowOp& op = run.op;
  const RowInput* const inputs = op.inputs;
  const RowOutput* const outputs = op.outputs;
  const int num_inputs = op.num_inputs, num_operands = num_inputs + op.num_outputs;
  constexpr int kMost = 32;  // operands, a bit each
  if (run.rows * run.length > kFew || num_operands >= kMost || !rows_are_last(run.shape))
    return false;
  SmallVector<RowBlock::Elements, 12> operands;
  operands.resize_uninitialized(static_cast<size_t>(num_operands) + op.num_spills);
  const auto place = [&](int k, const TensorBase& t, RowOperand kind) {
    if (!t.is_contiguous()) return false;
    const bool element = kind == RowOperand::Element;
    if (element && t.numel() != run.rows * run.length) return false;  // broadcast
    operands[k] = {t.data_ptr(), element ? run.length : kind == RowOperand::Row, run.length, 1};
    return true;
  };
  // What stands for values of rows that are absent; columns that are, and outputs of Bool, which
  // are written as numbers: a bit each.
  alignas(8) char numbers[kMost][8];
  uint32_t absent_columns = 0, truths = 0;
  const size_t row_bytes = scratch_row(run.length);
  size_t scratch_bytes = op.num_spills * row_bytes;
  for (int k = 0; k < num_inputs; ++k) {
    const RowInput& input = inputs[k];
    const TensorBase* const t = run.inputs[k];
    if (t && t->defined()) {
      if (t->scalar_type() != run.compute || input.is_position || !place(k, *t, input.kind))
        return false;
    } else if (input.kind == RowOperand::Column) {
      absent_columns |= uint32_t{1} << k;
      scratch_bytes += row_bytes;
    } else if (input.kind == RowOperand::Row && !input.is_position) {
      fill_number(input.absent, run.compute, numbers[k], 1);
      operands[k] = {numbers[k], 0, 0, 0};
    } else {
      return false;
    }
  }
  for (int k = num_inputs; k < num_operands; ++k) {
    const RowOutput& output = outputs[k - num_inputs];
    const TensorBase& t = run.outputs[k - num_inputs];
    if (output.kind == RowOperand::Column && run.rows > kSummedRows) return false;
    if (!t.defined()) {
      operands[k] = {};
      continue;
    }
    const bool truth = output.dtype == RowOutput::DType::Bool;
    const bool fits = t.scalar_type() == run.compute || output.dtype == RowOutput::DType::Long;
    if ((!fits && !truth) || !place(k, t, output.kind)) return false;
    if (output.kind == RowOperand::Column) clear(t);
    if (!truth) continue;
    truths |= uint32_t{1} << k;
    scratch_bytes += static_cast<size_t>(t.numel()) * 8;
  }
  const Scratch scratch(scratch_bytes);
  char* free = scratch.data();
  for (int k = 0; k < op.num_spills; ++k, free += row_bytes)
    operands[num_operands + k] = {free, 0, 0, 1};
  for (int k = 0; absent_columns >> k; ++k) {
    if (!((absent_columns >> k) & 1)) continue;
    fill_number(inputs[k].absent, run.compute, free, run.length);
    operands[k] = {free, 0, run.length, 1};
    free += row_bytes;
  }
  for (int k = 0; truths >> k; ++k) {
    if (!((truths >> k) & 1)) continue;
    operands[k].data = free;
    free += run.outputs[k - num_inputs].numel() * 8;
  }
  run_block(run.row_major(), operands.data(), num_inputs, num_operands, run.scalars, run.rows,
            run.length);
  if (run.may_divide_by_zero() && take_zero_division()) raise_zero_division(op.name);
  for (int k = 0; truths >> k; ++k) {
    if (!((truths >> k) & 1)) continue;
    const TensorBase& t = run.outputs[k - num_inputs];
    converter(kBool, run.compute)(t.data_ptr(), operands[k].data, t.numel());
  }
  return true;
}

}  // namespace tenon::native
