#pragma once

#include "aten/core/scalar.h"
#include "aten/iterator/pointwise_op.h"

/// How numbers beside tensors of narrow dtypes (half types, integers of less than 64 bits) are
/// computed with. One rule, PyTorch's: a number that takes part in type promotion is an operand,
/// and becomes a value of the promoted dtype first, as if it were an element. Half types round it;
/// integers wrap it. Other numbers (`alpha`, `value`, slopes) keep their precision beside half
/// types, and must fit beside integers.
namespace tenon::native {

/// The operators that differ, as PyTorch's do.
enum class NumberRule : uint8_t {
  Operand,    ///< none: the rule above
  Factor,     ///< the second operand of a product or quotient keeps its precision beside half types
  Bound,      ///< of a range, `clamp`: compared as it is
  Threshold,  ///< a number with a default with which elements are compared: an operand as well
  Exact,      ///< all keep their precision beside half types: derivatives, steps of optimizers
};

/// By the operator's name. Operators that write their arguments are Exact besides.
NumberRule number_rule(const PointwiseOp& op);

/// Whether numbers beside the dtype may have to be converted.
constexpr bool is_narrow(ScalarType type) {
  return is_reduced_floating_point(type) || (is_integral(type, false) && type != ScalarType::Long);
}

/// Scalar `k` of the operator, which computes in the narrow dtype `common`, as it is computed with.
Scalar converted_number(const PointwiseOp& op, size_t k, const Scalar& number, ScalarType common);

/// Whether the integer is one of the type's own: then nothing is converted.
bool is_value_of(int64_t number, ScalarType type);

}  // namespace tenon::native
