#include "tenon/native/_softmax.h"

#include "aten/cpu/plain.h"
#include "aten/cpu/softmax_rows.h"

namespace tenon {

void native::_softmax_cpu(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  const ScalarType type = opmath_type(self.scalar_type());
  const Split s(self.sizes(), dim);
  const TensorBase x = plain_input(self, type);
  const PlainOutput y(out, type);
  TENON_DISPATCH_FLOATING(type, "_softmax", {
    softmax_forward(x.data_ptr<scalar_t>(), y.data<scalar_t>(), s.outer, s.n, s.inner, false);
  });
  y.deliver();
}

}  // namespace tenon
