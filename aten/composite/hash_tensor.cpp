#include "tenon/native/hash_tensor.h"

#include "aten/meta/hash_tensor.h"
#include "tenon/ops/bitwise_xor.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/to.h"
#include "tenon/ops/view.h"

namespace tenon {

/// The exclusive or of all elements' 64 bits: of integers as int64, of floating-point numbers as
/// double. Half of a row is folded onto the other half until one is left.
Tensor native::hash_tensor(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
  const HashedRows rows(self, dim, keepdim, mode);
  Tensor x = self.is_floating_point() ? self.to(kDouble).view(kLong) : self.to(kLong);
  x = x.permute(rows.order).reshape({rows.kept, rows.reduced});
  if (rows.reduced == 1) x = x.clone();
  for (int64_t n = rows.reduced; n > 1; n /= 2) {
    const int64_t half = n / 2;
    Tensor folded = x.slice(1, 0, half).bitwise_xor(x.slice(1, half, 2 * half));
    if (n % 2 != 0) folded.slice(1, 0, 1).bitwise_xor_(x.slice(1, n - 1, n));
    x = folded;
  }
  return x.reshape(rows.sizes).view(kUInt64);
}

}  // namespace tenon
