#include "mine/native/bump.h"

tenon::Tensor& mine::native::bump_(tenon::Tensor& self, const tenon::Tensor& by) {
  return self.add_(by);
}
