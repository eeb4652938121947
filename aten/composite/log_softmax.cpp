#include "tenon/native/log_softmax.h"

#include "tenon/ops/_log_softmax.h"
#include "tenon/ops/to.h"

namespace tenon {

Tensor native::log_softmax_int(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return _log_softmax(dtype && *dtype != self.scalar_type() ? to(self, *dtype) : self, dim,
                      /*half_to_float=*/false);
}

}  // namespace tenon
