#include "tenon/native/bernoulli.h"

#include "aten/meta/structured.h"
#include "tenon/ops/bernoulli.h"

namespace tenon {

/// Of `out`'s dtype, whatever that of the probabilities.
Tensor& native::bernoulli_out(const Tensor& self, std::optional<Generator> generator, Tensor& out) {
  structured::resize_out("bernoulli", out, self.sizes(), out.scalar_type());
  return ops::bernoulli__Tensor::call(out, self, generator);
}

}  // namespace tenon
