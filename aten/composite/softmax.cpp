#include "tenon/native/softmax.h"

#include "tenon/ops/_softmax.h"
#include "tenon/ops/to.h"

namespace tenon {

Tensor native::softmax_int(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return _softmax(dtype && *dtype != self.scalar_type() ? to(self, *dtype) : self, dim,
                  /*half_to_float=*/false);
}

}  // namespace tenon
