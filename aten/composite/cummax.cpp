#include "tenon/native/cummax.h"

#include "tenon/native/cummin.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/logical_or.h"
#include "tenon/ops/where.h"

namespace tenon {
namespace {

/// The places of the largest (or smallest) of the first 1, 2, ... elements along d, by doubling:
/// after step s each is that of the last 2 s. Of equal ones the last, and a NaN beats every number.
Tensor places(const Tensor& self, int64_t d, bool largest) {
  const int64_t n = self.size(d);
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  shape[static_cast<size_t>(d)] = n;
  Tensor at = arange(n, self.options().dtype(kLong)).view(shape).expand(self.sizes());
  Tensor best = self;
  for (int64_t s = 1; s < n; s *= 2) {
    const Tensor before = best.narrow(d, 0, n - s), now = best.narrow(d, s, n - s);
    const Tensor better = logical_or(
        now != now, logical_and(before == before, largest ? now >= before : now <= before));
    best = cat({best.narrow(d, 0, s), where(better, now, before)}, d);
    at =
        cat({at.narrow(d, 0, s), where(better, at.narrow(d, s, n - s), at.narrow(d, 0, n - s))}, d);
  }
  return at.contiguous();
}

std::tuple<Tensor, Tensor> running(const char* op, const Tensor& self, int64_t dim, bool largest) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0 || self.numel() == 0)
    return {self.clone(), self.detach().new_zeros(self.sizes(), TensorOptions().dtype(kLong))};
  TENON_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "[", op, "] is not implemented for ",
                              self.scalar_type());
  const Tensor at = places(self.detach(), d, largest);
  return {self.gather(d, at), at};
}

}  // namespace

std::tuple<Tensor, Tensor> native::cummax(const Tensor& self, int64_t dim) {
  return running("cummax", self, dim, true);
}

std::tuple<Tensor, Tensor> native::cummin(const Tensor& self, int64_t dim) {
  return running("cummin", self, dim, false);
}

}  // namespace tenon
