#pragma once

#include "aten/iterator/rows.h"
#include "tenon/tensor.h"

// The operands of a `rowwise` entry as operators compute on them: elements as [rows, length],
// values of rows as [rows, 1], columns as [length]. All of it can be differentiated.

namespace tenon::native {

/// Which operand of which operator, for messages.
struct RowOperandName {
  const char* op;
  const char* operand;
};

/// Errors are those of run_rows.
TENON_API Tensor element_rows(RowOperandName name, const Tensor& t, const RowShape& shape);
TENON_API Tensor row_values(RowOperandName name, const Tensor& t, const RowShape& shape);
TENON_API Tensor column_values(RowOperandName name, const Tensor& t, const RowShape& shape);
/// A number, as a tensor like `like`, where `t` is absent.
TENON_API Tensor or_number(RowOperandName name, const std::optional<Tensor>& t, double number,
                           const RowShape& shape, bool column, const Tensor& like);

/// The tensor in the dtype that a call asks for.
TENON_API Tensor in_dtype(const Tensor& t, std::optional<ScalarType> dtype);
TENON_API std::optional<Tensor> in_dtype(const std::optional<Tensor>& t,
                                         std::optional<ScalarType> dtype);

/// Gradient i of a node, or zeros of that result's shape on the device of one that is defined.
TENON_API Tensor gradient_or_zeros(TensorList grads, size_t i, const RowShape& shape, bool of_rows);

/// The largest or smallest of the numbers of each row of x, [rows, length], as [rows, 1]; NaN where
/// a row has none.
TENON_API Tensor fmax_of_rows(const Tensor& x);
TENON_API Tensor fmin_of_rows(const Tensor& x);

/// For each element of x the product of the others of its row (the last dimension), without a
/// division, so that zeros are no matter and derivatives of any order hold. Half types are
/// multiplied in float.
TENON_API Tensor product_of_others(const Tensor& x);

/// The inverse: a value that broadcasts to [rows, length], or to [rows, 1], in the call's shape.
TENON_API Tensor from_elements(const Tensor& t, const RowShape& shape);
TENON_API Tensor from_rows(const Tensor& t, const RowShape& shape);
/// The sums over the rows, in the shape of a row.
TENON_API Tensor column_sums(const Tensor& t, const RowShape& shape);

}  // namespace tenon::native
