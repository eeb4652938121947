#include "tenon/native/equal.h"

#include <algorithm>
#include <cstring>

#include "tenon/ops/contiguous.h"

namespace tenon {

/// Whether sizes and all elements are the same; NaN differs from everything, itself included.
bool native::equal_cpu(const Tensor& self, const Tensor& other) {
  TENON_CHECK(self.scalar_type() == other.scalar_type(),
              "[equal] expected both tensors to have the same dtype, got ", self.scalar_type(),
              " and ", other.scalar_type());
  if (!(self.sizes() == other.sizes())) return false;
  const bool exact = is_integral(self.scalar_type(), true);
  if (exact && self.const_data_ptr() == other.const_data_ptr() && self.strides() == other.strides())
    return true;
  const Tensor a = self.contiguous();
  const Tensor b = other.contiguous();
  if (exact)
    return a.numel() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
  return TENON_DISPATCH_ALL(a.scalar_type(), "equal", {
    const auto* p = static_cast<const scalar_t*>(a.const_data_ptr());
    return std::equal(p, p + a.numel(), static_cast<const scalar_t*>(b.const_data_ptr()),
                      [](const scalar_t& x, const scalar_t& y) { return x == y; });
  });
}

}  // namespace tenon
