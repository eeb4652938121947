#include <algorithm>

#include "aten/iterator/element_copy.h"
#include "aten/iterator/row_run.h"

namespace tenon::native {
namespace {

/// Strides by which a tensor shows the shape's dimensions, 0 where it is the same along them.
DimVector strides_in(const RowShape& shape, const TensorBase& t, RowOperand kind) {
  DimVector strides(shape.sizes.size(), 0);
  const IntArrayRef sizes = t.sizes(), own = t.strides();
  if (kind == RowOperand::Element) {
    const size_t missing = strides.size() - sizes.size();
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] != 1 || shape.sizes[missing + d] == 1) strides[missing + d] = own[d];
    }
    return strides;
  }
  const bool of_row = kind == RowOperand::Column;
  const bool kept = !of_row && sizes.size() == strides.size();
  size_t next = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (shape.with_row(d) == of_row) strides[d] = own[kept ? d : next++];
  }
  return strides;
}

/// Of a tensor in which rows lie one after the other, in the order of the shape's dimensions.
DimVector dense_strides(const RowShape& shape) {
  const DimVector order = shape.row_last();
  DimVector strides(shape.sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(shape.sizes[order[i]], 1);
  }
  return strides;
}

bool lies_as(const RowShape& shape, const DimVector& strides, const DimVector& wanted) {
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (shape.sizes[d] != 1 && strides[d] != wanted[d]) return false;
  }
  return true;
}

/// Drops dimensions of one element and merges neighbours.
template <class Strides>
void merge(DimVector& sizes, SmallVector<RowLayout::Operand, 6>& operands, Strides strides_of) {
  const auto drop = [&](size_t d) {
    sizes.erase(sizes.begin() + d);
    for (RowLayout::Operand& o : operands) {
      if (o.tensor.defined()) strides_of(o).erase(strides_of(o).begin() + d);
    }
  };
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) drop(d);
  }
  for (size_t d = sizes.size(); d-- > 1;) {
    const bool fits = std::all_of(operands.begin(), operands.end(), [&](RowLayout::Operand& o) {
      return !o.tensor.defined() || strides_of(o)[d - 1] == strides_of(o)[d] * sizes[d];
    });
    if (!fits) continue;
    sizes[d] *= sizes[d - 1];
    drop(d - 1);
  }
}

}  // namespace

RowLayout::RowLayout(const RowRun& run, ArrayRef<TensorBase> tensors, bool dense) {
  const RowShape& shape = run.shape;
  outer = shape.outer_sizes();
  inner = shape.row_sizes();
  for (size_t k = 0; k < tensors.size(); ++k) {
    Operand& operand = operands.emplace_back();
    const bool is_input = k < run.op.num_inputs;
    operand.kind = is_input ? run.op.inputs[k].kind : run.op.outputs[k - run.op.num_inputs].kind;
    operand.tensor = tensors[k];
    if (!operand.tensor.defined()) continue;
    DimVector strides = strides_in(shape, operand.tensor, operand.kind);
    if (dense && operand.kind == RowOperand::Element) {
      const DimVector wanted = dense_strides(shape);
      if (!lies_as(shape, strides, wanted)) {
        operand.tensor = empty_strided(shape.sizes, wanted, tensors[k].scalar_type(), run.device);
        if (is_input) copy(operand.tensor, tensors[k]);
        strides = wanted;
      }
    }
    for (size_t d = 0; d < strides.size(); ++d)
      (shape.with_row(d) ? operand.inner : operand.outer).push_back(strides[d]);
  }
  merge(outer, operands, [](Operand& o) -> DimVector& { return o.outer; });
  merge(inner, operands, [](Operand& o) -> DimVector& { return o.inner; });
  if (outer.empty()) outer = DimVector{1};
  if (inner.empty()) inner = DimVector{1};
  for (Operand& o : operands) {
    if (o.tensor.defined() && o.outer.empty()) o.outer = DimVector{0};
    // A row of one element: that it lies beside itself is as good as any other stride.
    if (o.tensor.defined() && o.inner.empty())
      o.inner = DimVector{o.kind == RowOperand::Row ? 0 : 1};
  }
}

int64_t RowLayout::segments() const {
  int64_t n = 1;
  for (size_t d = 0; d + 1 < inner.size(); ++d) n *= inner[d];
  return n;
}

int64_t RowLayout::offset(const Operand& operand, int64_t index, int64_t first) const {
  int64_t offset = first * operand.outer.back();
  for (size_t d = outer.size() - 1; d-- > 0;) {
    offset += index % outer[d] * operand.outer[d];
    index /= outer[d];
  }
  return offset;
}

void deliver_rows(const RowRun& run, const RowLayout& layout) {
  for (int k = 0; k < run.op.num_outputs; ++k) {
    const TensorBase& written = layout.operands[run.op.num_inputs + k].tensor;
    if (written.defined() && !written.is_same(run.outputs[k])) copy(run.outputs[k], written);
  }
}

}  // namespace tenon::native
