#include "aten/core/print.h"
#include "tenon/ops/add.h"
#include "tenon/ops/bitwise_and.h"
#include "tenon/ops/bitwise_not.h"
#include "tenon/ops/bitwise_or.h"
#include "tenon/ops/bitwise_xor.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/ge.h"
#include "tenon/ops/gt.h"
#include "tenon/ops/le.h"
#include "tenon/ops/lt.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ne.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/reciprocal.h"
#include "tenon/ops/remainder.h"
#include "tenon/ops/rsub.h"
#include "tenon/ops/select.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/to.h"

namespace tenon {

Tensor Tensor::cpu() const { return to(TensorOptions(kCPU)); }
Tensor Tensor::cuda() const { return to(TensorOptions(kCUDA)); }
Tensor Tensor::operator[](int64_t index) const { return select(0, index); }
Tensor Tensor::operator[](const Scalar& index) const {
  TENON_CHECK_INDEX(index.is_integral(false), "Can only index tensors with integral scalars");
  return select(0, index.toLong());
}
Tensor Tensor::operator[](const Tensor& index) const {
  TENON_CHECK_INDEX(index.defined(), "Can only index with tensors that are defined");
  TENON_CHECK_INDEX(index.dim() == 0, "Can only index with tensors that are scalars (zero-dim)");
  return (*this)[index.item()];
}

Tensor& Tensor::operator=(const Tensor& value) && { return copy_(value); }
Tensor& Tensor::operator=(const Scalar& value) && { return fill_(value); }

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  return detail::concat(device().is_cpu() ? "" : to_string(backend_of(device().type())),
                        scalar_type(), "Tensor ", sizes());
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << static_cast<const TensorBase&>(tensor);
}

Tensor Tensor::operator-() const { return neg(); }
Tensor Tensor::operator~() const { return bitwise_not(); }
Tensor& Tensor::operator+=(const Tensor& other) { return add_(other); }
Tensor& Tensor::operator+=(const Scalar& other) { return add_(other); }
Tensor& Tensor::operator-=(const Tensor& other) { return sub_(other); }
Tensor& Tensor::operator-=(const Scalar& other) { return sub_(other); }
Tensor& Tensor::operator*=(const Tensor& other) { return mul_(other); }
Tensor& Tensor::operator*=(const Scalar& other) { return mul_(other); }
Tensor& Tensor::operator/=(const Tensor& other) { return div_(other); }
Tensor& Tensor::operator/=(const Scalar& other) { return div_(other); }

// Where the number stands on the left, `swapped` gives the result: an operator with the operands
// exchanged, or one of its own.
#define TENON_BINARY_OPERATOR(symbol, op, swapped)                              \
  Tensor operator symbol(const Tensor& a, const Tensor& b) { return op(a, b); } \
  Tensor operator symbol(const Tensor& a, const Scalar& b) { return op(a, b); } \
  Tensor operator symbol(const Scalar& a, const Tensor& b) { return swapped; }
TENON_BINARY_OPERATOR(+, add, add(b, a))
TENON_BINARY_OPERATOR(-, sub, rsub(b, a))
TENON_BINARY_OPERATOR(*, mul, mul(b, a))
TENON_BINARY_OPERATOR(/, div, mul(reciprocal(b), a))
TENON_BINARY_OPERATOR(%, remainder, remainder(a, b))
TENON_BINARY_OPERATOR(&, bitwise_and, bitwise_and(b, a))
TENON_BINARY_OPERATOR(|, bitwise_or, bitwise_or(b, a))
TENON_BINARY_OPERATOR(^, bitwise_xor, bitwise_xor(b, a))
TENON_BINARY_OPERATOR(<, lt, gt(b, a))
TENON_BINARY_OPERATOR(<=, le, ge(b, a))
TENON_BINARY_OPERATOR(>, gt, lt(b, a))
TENON_BINARY_OPERATOR(>=, ge, le(b, a))
TENON_BINARY_OPERATOR(==, eq, eq(b, a))
TENON_BINARY_OPERATOR(!=, ne, ne(b, a))
#undef TENON_BINARY_OPERATOR

}  // namespace tenon
