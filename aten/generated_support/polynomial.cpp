#include "aten/generated_support/polynomial.h"

#include "tenon/ops/add.h"
#include "tenon/ops/mul.h"

namespace tenon {

Tensor native::polynomial(const Tensor& x, std::initializer_list<double> numbers) {
  Tensor sum = mul(x, *numbers.begin());
  for (const double* number = numbers.begin() + 1; number != numbers.end(); ++number) {
    if (number != numbers.begin() + 1) sum = mul(sum, x);
    sum = add(sum, *number);
  }
  return sum;
}

}  // namespace tenon
