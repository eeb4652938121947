#include "tenon/native/max.h"
#include "tenon/native/min.h"
#include "tenon/ops/maximum.h"
#include "tenon/ops/minimum.h"

namespace tenon {

Tensor native::max_other(const Tensor& self, const Tensor& other) {
  return ops::maximum::call(self, other);
}

Tensor native::min_other(const Tensor& self, const Tensor& other) {
  return ops::minimum::call(self, other);
}

}  // namespace tenon
