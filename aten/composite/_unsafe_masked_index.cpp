#include "tenon/native/_unsafe_masked_index.h"

#include "tenon/native/_unsafe_masked_index_put_accumulate.h"
#include "tenon/ops/clamp.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/index.h"
#include "tenon/ops/index_put.h"
#include "tenon/ops/logical_not.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/new_full.h"

namespace tenon {
namespace {

/// Indices that lie outside of self, where the mask is false, lead to an element of it.
std::vector<std::optional<Tensor>> within(const Tensor& self,
                                          ArrayRef<std::optional<Tensor>> indices) {
  std::vector<std::optional<Tensor>> result(indices.begin(), indices.end());
  for (size_t i = 0; i < result.size() && static_cast<int64_t>(i) < self.dim(); ++i) {
    const int64_t size = self.size(static_cast<int64_t>(i));
    if (result[i]) result[i] = clamp(*result[i], -size, size - 1);
  }
  return result;
}

}  // namespace

/// self[indices] where the mask is true, else the number.
Tensor native::_unsafe_masked_index(const Tensor& self, const Tensor& mask,
                                    ArrayRef<std::optional<Tensor>> indices, const Scalar& fill) {
  DimVector sizes(self.sizes());
  bool from_nothing = false;
  for (size_t i = 0; i < sizes.size() && i < indices.size(); ++i) {
    if (!indices[i] || sizes[i] > 0) continue;
    sizes[i] = 1;
    from_nothing = true;
  }
  const Tensor x = from_nothing ? tenon::new_full(self, sizes, fill) : self;
  return tenon::index(x, within(x, indices)).masked_fill(mask.logical_not(), fill);
}

/// self with the values added at the indices where the mask is true.
Tensor native::_unsafe_masked_index_put_accumulate(const Tensor& self, const Tensor& mask,
                                                   ArrayRef<std::optional<Tensor>> indices,
                                                   const Tensor& values) {
  if (self.numel() == 0) return self.clone();
  return tenon::index_put(self, within(self, indices), values.masked_fill(mask.logical_not(), 0),
                          true);
}

}  // namespace tenon
