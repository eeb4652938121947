#include "aten/generated_support/composed_rows.h"

#include <limits>

#include "tenon/ops/all.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/amin.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/flip.h"
#include "tenon/ops/full.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/select.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"

namespace tenon::native {
namespace {

/// `extreme` of the rows with NaN as `least`, of which nothing is less extreme.
template <class Extreme>
Tensor of_numbers(const Tensor& x, double least, const Extreme& extreme) {
  if (!is_floating_point(x.scalar_type())) return extreme(x);
  const Tensor missing = tenon::isnan(x);
  const Tensor found = extreme(tenon::where(missing, least, x));
  return tenon::where(tenon::all(missing, -1, true), std::numeric_limits<double>::quiet_NaN(),
                      found);
}

}  // namespace

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

Tensor in_dtype(const Tensor& t, std::optional<ScalarType> dtype) {
  return dtype && t.defined() ? t.to(*dtype) : t;
}

std::optional<Tensor> in_dtype(const std::optional<Tensor>& t, std::optional<ScalarType> dtype) {
  return t ? std::optional(in_dtype(*t, dtype)) : t;
}

Tensor gradient_or_zeros(TensorList grads, size_t i, const RowShape& shape, bool of_rows) {
  if (grads[i].defined()) return grads[i];
  for (const Tensor& grad : grads) {
    if (grad.defined())
      return tenon::zeros(of_rows ? shape.reduced_sizes() : shape.sizes, grad.options());
  }
  return {};
}

Tensor fmax_of_rows(const Tensor& x) {
  return of_numbers(x, -std::numeric_limits<double>::infinity(),
                    [](const Tensor& t) { return tenon::amax(t, -1, true); });
}

Tensor fmin_of_rows(const Tensor& x) {
  return of_numbers(x, std::numeric_limits<double>::infinity(),
                    [](const Tensor& t) { return tenon::amin(t, -1, true); });
}

Tensor product_of_others(const Tensor& x) {
  const ScalarType dtype = x.scalar_type();
  if (dtype == kHalf || dtype == kBFloat16) return product_of_others(x.to(kFloat)).to(dtype);
  const int64_t length = x.size(-1);
  if (length <= 1) return tenon::ones_like(x);
  // Those of pairs, times the other of the pair.
  const Tensor even =
      length % 2 == 0 ? x : tenon::cat({x, tenon::ones_like(tenon::narrow(x, -1, 0, 1))}, -1);
  DimVector paired = even.sizes();
  paired.back() = even.size(-1) / 2;
  paired.push_back(2);
  const Tensor pairs = tenon::reshape(even, paired);
  const Tensor products = tenon::mul(tenon::select(pairs, -1, 0), tenon::select(pairs, -1, 1));
  const Tensor others =
      tenon::mul(tenon::unsqueeze(product_of_others(products), -1), tenon::flip(pairs, {-1}));
  return tenon::narrow(tenon::reshape(others, even.sizes()), -1, 0, length);
}

Tensor from_elements(const Tensor& t, const RowShape& shape) {
  const DimVector order = shape.row_last();
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
