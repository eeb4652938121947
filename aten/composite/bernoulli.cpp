#include "tenon/native/bernoulli.h"

#include "aten/meta/structured.h"
#include "tenon/ops/bernoulli.h"
#include "tenon/ops/empty_like.h"

namespace tenon {

Tensor native::bernoulli(const Tensor& self, std::optional<Generator> generator) {
  Tensor result = tenon::empty_like(self);
  return ops::bernoulli__Tensor::call(result, self, generator);
}

/// Of `out`'s dtype, whatever that of the probabilities.
Tensor& native::bernoulli_out(const Tensor& self, std::optional<Generator> generator, Tensor& out) {
  structured::resize_out("bernoulli", out, self.sizes(), out.scalar_type());
  return ops::bernoulli__Tensor::call(out, self, generator);
}

Tensor native::bernoulli_p(const Tensor& self, double p, std::optional<Generator> generator) {
  Tensor result = tenon::empty_like(self);
  return ops::bernoulli__float::call(result, p, generator);
}

}  // namespace tenon
