#include "tenon/native/fill.h"

#include "tenon/ops/empty_like.h"
#include "tenon/ops/fill.h"

namespace tenon {

Tensor native::fill_Scalar(const Tensor& self, const Scalar& value) {
  Tensor result = tenon::empty_like(self);
  return ops::fill__Scalar::call(result, value);
}

Tensor native::fill_Tensor(const Tensor& self, const Tensor& value) {
  Tensor result = tenon::empty_like(self);
  return ops::fill__Tensor::call(result, value);
}

}  // namespace tenon
