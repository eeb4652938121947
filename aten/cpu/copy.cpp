#include "aten/iterator/element_copy.h"

#include "tenon/native/copy.h"

namespace tenon {

Tensor& native::copy_cpu_(Tensor& self, const Tensor& src, bool) {
  TENON_CHECK(src.is_cpu(), "[copy_] expected a source on the CPU, got one on ", src.device());
  if (!self.is_same(src)) copy(self, src);
  return self;
}

}  // namespace tenon
