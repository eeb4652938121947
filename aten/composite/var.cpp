#include "tenon/native/var.h"

#include "tenon/native/std.h"
#include "tenon/ops/std.h"
#include "tenon/ops/var.h"

namespace tenon {

Tensor native::var(const Tensor& self, bool unbiased) {
  return ops::var_correction::call(self, std::nullopt, Scalar(unbiased ? 1 : 0), false);
}

Tensor native::var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return ops::var_correction::call(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
}

Tensor native::std(const Tensor& self, bool unbiased) {
  return ops::std_correction::call(self, std::nullopt, Scalar(unbiased ? 1 : 0), false);
}

Tensor native::std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return ops::std_correction::call(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
}

}  // namespace tenon
