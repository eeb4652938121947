#include "tenon/native/cumprod.h"

#include "aten/cpu/scan.h"

namespace tenon {

Tensor native::cumprod_cpu(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const ScalarType own = self.scalar_type();
  wrap_dim(dim, self.dim());
  const Tensor out(tenon::empty(self.sizes(), dtype.value_or(is_integral(own, true) ? kLong : own),
                                self.device()));
  accumulate("cumprod", self, dim, out, 1, [](auto a, auto b) { return a * b; });
  return out;
}

}  // namespace tenon
