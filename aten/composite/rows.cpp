#include "aten/composite/rows.h"

#include "tenon/ops/expand.h"
#include "tenon/ops/full.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/zeros.h"

namespace tenon::native {

Tensor element_rows(RowOperandName name, const Tensor& t, const RowShape& shape) {
  TENON_CHECK_NOT_IMPLEMENTED(!is_complex(t.scalar_type()), "[", name.op,
                              "] is not implemented for '", t.scalar_type(), "'");
  const Tensor whole = t.sizes() == IntArrayRef(shape.sizes) ? t : tenon::expand(t, shape.sizes);
  return tenon::reshape(tenon::permute(whole, shape.row_last()), {shape.rows(), shape.length()});
}

Tensor row_values(RowOperandName name, const Tensor& t, const RowShape& shape) {
  check_row_values(name.op, name.operand, t.sizes(), shape);
  return tenon::reshape(t, {shape.rows(), 1});
}

Tensor column_values(RowOperandName name, const Tensor& t, const RowShape& shape) {
  check_column_values(name.op, name.operand, t.sizes(), shape);
  return tenon::reshape(t, {shape.length()});
}

Tensor or_number(RowOperandName name, const std::optional<Tensor>& t, double number,
                 const RowShape& shape, bool column, const Tensor& like) {
  if (t && t->defined())
    return column ? column_values(name, *t, shape) : row_values(name, *t, shape);
  return tenon::full({1}, number, like.options());
}

Tensor gradient_or_zeros(TensorList grads, size_t i, const RowShape& shape, bool of_rows) {
  if (grads[i].defined()) return grads[i];
  for (const Tensor& grad : grads) {
    if (grad.defined())
      return tenon::zeros(of_rows ? shape.reduced_sizes() : shape.sizes, grad.options());
  }
  return {};
}

Tensor from_elements(const Tensor& t, const RowShape& shape) {
  const std::vector<int64_t> order = shape.row_last();
  DimVector sizes;
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    sizes.push_back(shape.sizes[order[i]]);
    back[order[i]] = static_cast<int64_t>(i);
  }
  const Tensor whole = tenon::expand(t, {shape.rows(), shape.length()});
  return tenon::permute(tenon::reshape(whole, sizes), back);
}

Tensor from_rows(const Tensor& t, const RowShape& shape) {
  return tenon::reshape(tenon::expand(t, {shape.rows(), 1}), shape.reduced_sizes());
}

Tensor column_sums(const Tensor& t, const RowShape& shape) {
  const Tensor whole = tenon::expand(t, {shape.rows(), shape.length()});
  return tenon::reshape(tenon::sum(whole, 0), shape.row_sizes());
}

}  // namespace tenon::native
