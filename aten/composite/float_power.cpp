#include "tenon/native/float_power.h"

#include "tenon/native/positive.h"
#include "tenon/ops/pow.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

ScalarType exact(bool complex) { return complex ? kComplexDouble : kDouble; }

}  // namespace

/// self to the power of exponent, in double whatever the dtypes.
Tensor native::float_power_Tensor_Tensor(const Tensor& self, const Tensor& exponent) {
  const ScalarType type = exact(self.is_complex() || exponent.is_complex());
  return pow(self.to(type), exponent.to(type));
}

Tensor native::float_power_Scalar(const Scalar& self, const Tensor& exponent) {
  return pow(self, exponent.to(exact(self.is_complex() || exponent.is_complex())));
}

Tensor native::float_power_Tensor_Scalar(const Tensor& self, const Scalar& exponent) {
  return pow(self.to(exact(self.is_complex() || exponent.is_complex())), exponent);
}

Tensor native::positive(const Tensor& self) {
  TENON_CHECK(self.scalar_type() != kBool,
              "[positive] The `+` operator, on a bool tensor is not supported.");
  return self;
}

}  // namespace tenon
