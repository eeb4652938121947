#include "tenon/native/copy.h"
#include "aten/iterator/element_copy.h"

namespace tenon {

/// For every out-of-tree device: what its library registered for copies decides.
Tensor& native::copy_privateuse1_(Tensor& self, const Tensor& src, bool) {
  if (!self.is_same(src) && !self.is_meta()) copy(self, src);
  return self;
}

}  // namespace tenon
