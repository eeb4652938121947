#include "tenon/native/bernoulli.h"

#include "tenon/ops/bernoulli.h"
#include "tenon/ops/empty_like.h"

namespace tenon {

Tensor native::bernoulli(const Tensor& self, std::optional<Generator> generator) {
  Tensor result = tenon::empty_like(self);
  return ops::bernoulli__Tensor::call(result, self, generator);
}

Tensor native::bernoulli_p(const Tensor& self, double p, std::optional<Generator> generator) {
  Tensor result = tenon::empty_like(self);
  return ops::bernoulli__float::call(result, p, generator);
}

}  // namespace tenon
