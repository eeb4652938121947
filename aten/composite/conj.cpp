#include "tenon/native/conj.h"
#include "tenon/ops/conj_physical.h"

namespace tenon {

Tensor native::conj(const Tensor& self) { return self.is_complex() ? conj_physical(self) : self; }

}  // namespace tenon
