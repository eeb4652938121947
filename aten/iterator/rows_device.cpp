#include <vector>

#include "aten/iterator/element_copy.h"
#include "aten/iterator/row_run.h"

// Row operators on other devices than the CPU: one kernel gets all rows at once.

namespace tenon::native {
namespace {

bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }

/// Whether the kernel reads and writes such elements.
bool is_plain(const RowRun& run, ScalarType dtype) {
  return dtype == run.compute || (run.compute == kFloat && is_half(dtype));
}

/// Input k, or a copy that the kernel can read.
TensorBase readable_on_device(const RowRun& run, int k) {
  const RowInput& input = run.op.inputs[k];
  if (!run.inputs[k] || !run.inputs[k]->defined()) return {};
  const TensorBase& t = *run.inputs[k];
  const bool element = input.kind == RowOperand::Element;
  const ScalarType wanted = input.is_position                           ? kLong
                            : element && is_plain(run, t.scalar_type()) ? t.scalar_type()
                                                                        : run.compute;
  if (t.scalar_type() == wanted && (element || t.is_contiguous())) return t;
  TensorBase values = empty(t.sizes(), wanted, run.device);
  copy(values, t);
  return values;
}

/// What the kernel writes for output k.
TensorBase writable(const RowRun& run, int k) {
  const TensorBase& out = run.outputs[k];
  if (!out.defined()) return {};
  if (run.op.outputs[k].kind == RowOperand::Column) return empty(out.sizes(), kDouble, run.device);
  if (run.op.outputs[k].dtype == RowOutput::DType::Long) return out;
  return is_plain(run, out.scalar_type()) ? out : empty(out.sizes(), run.compute, run.device);
}

}  // namespace

void run_rows_on_device(const RowRun& run) {
  constexpr int64_t kManyRows = 4096;  // enough for a thread each
  SmallVector<TensorBase, 6> tensors;
  for (int k = 0; k < run.op.num_inputs; ++k) tensors.push_back(readable_on_device(run, k));
  for (int k = 0; k < run.op.num_outputs; ++k) tensors.push_back(writable(run, k));
  RowLayout layout(run, tensors, false);
  bool apart = layout.inner.size() > 1, neighbours = !apart && run.rows >= kManyRows;
  for (const RowLayout::Operand& o : layout.operands) {
    if (!o.is_element() || o.step() == 0 || run.length <= 1) continue;
    apart |= o.step() != 1;
    neighbours &= o.row() == 1;
  }
  neighbours &= apart;
  if ((apart && !neighbours) || layout.outer.size() > RowCall::kMaxOuter) {
    layout = RowLayout(run, tensors, true);
    neighbours = false;
  }
  SmallVector<RowCall::Operand, 6> operands;
  for (size_t k = 0; k < layout.operands.size(); ++k) {
    RowCall::Operand& operand = operands.emplace_back();
    if (k < run.op.num_inputs) operand.absent = run.op.inputs[k].absent;
    const RowLayout::Operand& o = layout.operands[k];
    if (!o.tensor.defined()) continue;
    operand.data = o.data();
    operand.dtype = o.tensor.scalar_type();
    operand.stride = o.step();
    operand.outer = o.kind == RowOperand::Element ? o.outer.data() : nullptr;
  }
  RowCall call;
  call.op = run.op.name;
  call.device = run.device;
  call.compute = run.compute;
  call.rows = run.rows;
  call.length = run.length;
  call.sizes = layout.outer.data();
  call.ndim = static_cast<int>(layout.outer.size());
  call.neighbours = neighbours;
  call.inputs = operands.data();
  call.outputs = operands.data() + run.op.num_inputs;
  call.scalars = run.scalars.data();
  run.op.cuda(call);
  deliver_rows(run, layout);
}

}  // namespace tenon::native
