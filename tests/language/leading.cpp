#include "mine/native/leading.h"

tenon::Tensor mine::native::leading(const tenon::Tensor& self, int64_t size) {
  return self.narrow(0, 0, size);
}
