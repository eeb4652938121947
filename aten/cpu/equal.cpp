#include "tenon/native/equal.h"

#include <algorithm>
#include <cstring>

#include "tenon/ops/contiguous.h"
#include "tenon/ops/to.h"

namespace tenon {

/// Whether sizes and all elements are the same, as numbers of the promoted dtype; NaN differs from
/// everything, itself included.
bool native::equal_cpu(const Tensor& self, const Tensor& other) {
  TENON_CHECK(self.device() == other.device(),
              "[equal] Expected all tensors to be on the same device, but found at least two "
              "devices, ",
              self.device(), " and ", other.device(), "!");
  if (!(self.sizes() == other.sizes())) return false;
  if (self.scalar_type() != other.scalar_type()) {
    const ScalarType common = promote_types(self.scalar_type(), other.scalar_type());
    return equal_cpu(self.to(common), other.to(common));
  }
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
