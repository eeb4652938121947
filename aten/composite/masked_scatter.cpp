#include "tenon/native/masked_scatter.h"

#include "aten/batching/examples.h"
#include "aten/composite/index_values.h"
#include "aten/iterator/plan.h"
#include "tenon/native/index_copy.h"
#include "tenon/ops/scatter.h"
#include "tenon/ops/where.h"

namespace tenon {

/// The first elements of source, in order, at the places where the mask is true; self and mask are
/// broadcast to one another.
Tensor native::masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TENON_CHECK(mask.scalar_type() == kBool,
              "[masked_scatter] masked_scatter_ only supports boolean masks, but got mask with "
              "dtype ",
              mask.scalar_type());
  TENON_CHECK(self.scalar_type() == source.scalar_type(),
              "[masked_scatter] expected self and source to have same dtypes but got ",
              self.scalar_type(), " and ", source.scalar_type());
  TENON_CHECK(self.device() == source.device() && self.device() == mask.device(),
              "[masked_scatter] expected self, mask and source to be on one device, got ",
              self.device(), ", ", mask.device(), " and ", source.device());
  const DimVector sizes = broadcast_shape({&self, &mask});
  const Tensor chosen = mask.expand(sizes).reshape({-1}), to = self.expand(sizes);
  if (!mask.is_meta()) {
    const int64_t count = batching::most_of_examples(chosen.sum()).toLong();
    TENON_CHECK(count <= source.numel(),
                "[masked_scatter] Number of elements of source < number of ones in mask, got ",
                source.numel(), " and ", count);
    // Nothing is read of an empty source; one that requires grad has a gradient, of zeros.
    if (count == 0 && (source.numel() == 0 || !source.requires_grad())) {
      return to.clone(MemoryFormat::Contiguous);
    }
  }
  const Tensor places = (chosen.cumsum(0) - 1).clamp_min(0);
  const Tensor values = source.reshape({-1}).index_select(0, places).reshape(sizes);
  return where(mask, values, to);
}

/// A copy of self in which the slice index[i] along dim is slice i of source.
Tensor native::index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                          const Tensor& source) {
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK_INDEX(index.dim() <= 1, "[index_copy] Index should have dimension 1 or 0 (got ",
                    index.dim(), ")");
  TENON_CHECK(index.scalar_type() == kLong,
              "[index_copy] Expected a long tensor for index, but got ", index.scalar_type());
  TENON_CHECK_INDEX(source.dim() == 0 || self.dim() == 0 || source.dim() == self.dim(),
                    "[index_copy] When source and destination are not scalars, their "
                    "dimensionality must match. Source dimensionality (",
                    source.dim(), "), destination dimensionality (", self.dim(), ")");
  TENON_CHECK(self.scalar_type() == source.scalar_type(),
              "[index_copy] self and source expected to have the same dtype, but got (self) ",
              self.scalar_type(), " and (source) ", source.scalar_type());
  const int64_t count = source.dim() == 0 ? 1 : source.size(source.dim() == self.dim() ? d : 0);
  DimVector wanted(self.sizes());
  if (self.dim() > 0) wanted[d] = index.numel();
  bool fits = true;
  for (int64_t i = 0; fits && source.dim() > 0 && i < self.dim(); ++i)
    fits = i == d || source.size(i) == wanted[i];
  TENON_CHECK(fits,
              "[index_copy] Source/destination tensor must have same slice shapes, got source of "
              "shape ",
              source.sizes(), " and self of shape ", self.sizes(), " at dimension ", d);
  TENON_CHECK_INDEX(count == index.numel(), "[index_copy] Number of indices (", index.numel(),
                    ") should be equal to source.size(dim) (", count, ")");
  native::check_index_values("index_copy", index, d, self);
  if (self.dim() == 0) {
    return ops::scatter_src::call(self.reshape({1}), 0, index.reshape({1}), source.reshape({1}))
        .reshape({});
  }
  DimVector along(static_cast<size_t>(self.dim()), 1);
  along[d] = index.numel();
  return ops::scatter_src::call(self, d, index.reshape(along).expand(wanted),
                                source.dim() == 0 ? source.expand(wanted) : source);
}

}  // namespace tenon
