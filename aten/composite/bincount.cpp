#include "tenon/native/bincount.h"

#include <algorithm>

#include "aten/meta/histc_range.h"
#include "tenon/native/histc.h"
#include "tenon/ops/full.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/to.h"
#include "tenon/ops/zeros.h"

namespace tenon {

/// How often 0, 1, ... are among the elements, or the sum of their weights: int64, of weights their
/// own dtype where it is float and double otherwise. Of no elements int64 in any case.
Tensor native::bincount(const Tensor& self, const std::optional<Tensor>& weights,
                        int64_t minlength) {
  TENON_CHECK(self.dim() == 1 && is_integral(self.scalar_type(), false),
              "[bincount] bincount only supports 1-d non-negative integral inputs, got ",
              self.scalar_type(), " of shape ", self.sizes());
  TENON_CHECK(minlength >= 0, "[bincount] minlength should be >= 0, got ", minlength);
  if (self.numel() == 0) return zeros({minlength}, self.options().dtype(kLong));
  TENON_CHECK(!weights || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "[bincount] weights should be 1-d and have the same length as input, got ",
              weights ? weights->sizes() : IntArrayRef(), " and ", self.sizes());
  const int64_t smallest = self.min().item().toLong();
  TENON_CHECK(smallest >= 0,
              "[bincount] bincount only supports 1-d non-negative integral inputs, got ", smallest);
  const int64_t bins = std::max(minlength, self.max().item().toLong() + 1);
  const ScalarType type = !weights ? kLong : weights->scalar_type() == kFloat ? kFloat : kDouble;
  const TensorOptions options = self.options().dtype(type);
  const Tensor amounts = weights ? weights->to(type) : ones(self.sizes(), options);
  return zeros({bins}, options).scatter_add(0, self.to(kLong), amounts);
}

/// How many elements are in each of `bins` equal parts of [min, max], the last with its end; of the
/// range of the elements where both are equal. Computed step by step in self's dtype.
Tensor native::histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  const auto [low, high] = histc_range(self, bins, min, max);
  const Tensor x = self.reshape({-1});
  const Tensor first = tenon::full({}, low, self.options()),
               last = tenon::full({}, high, self.options());
  const Tensor inside = logical_and(x >= first, x <= last);
  const Tensor place = ((x - first) * bins / (last - first)).masked_fill(inside == false, 0);
  return zeros({bins}, self.options())
      .scatter_add(0, place.to(kLong).clamp(0, bins - 1), inside.to(self.scalar_type()));
}

}  // namespace tenon
