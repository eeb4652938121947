#include "tenon/native/positive.h"

namespace tenon {

/// self, which is no bool.
Tensor native::positive(const Tensor& self) {
  TENON_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool,
                              "The `+` operator, on a bool tensor is not supported.");
  return self;
}

}  // namespace tenon
