#include "tenon/native/index_reduce.h"

#include "aten/composite/index_values.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/scatter_reduce.h"

namespace tenon {

Tensor native::index_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& source, std::string_view reduce, bool include_self) {
  TENON_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
              "[index_reduce] Expected reduce to be one of prod, mean, amax or amin but got ",
              reduce, ".");
  TENON_CHECK_INDEX(index.dim() <= 1,
                    "[index_reduce] Index is supposed to be a vector, but got "
                    "dim: ",
                    index.dim(), " with type: ", index.scalar_type(), " and size: ", index.sizes());
  TENON_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt,
              "[index_reduce] Expected dtype int32/int64 for index but got: ", index.scalar_type());
  TENON_CHECK(self.scalar_type() == source.scalar_type(), "[index_reduce] self (",
              self.scalar_type(), ") and source (", source.scalar_type(),
              ") must have the same scalar type");
  const int64_t d = wrap_dim(dim, self.dim());
  bool fits = self.dim() == source.dim();
  for (int64_t i = 0; fits && i < self.dim(); ++i) fits = i == d || self.size(i) == source.size(i);
  TENON_CHECK(fits,
              "[index_reduce] source tensor shape must match self tensor shape, excluding the "
              "specified dimension. Got self.shape = ",
              self.sizes(), " source.shape = ", source.sizes());
  const int64_t count = source.dim() == 0 ? 1 : source.size(d);
  if (index.numel() != count) source.size(dim);  // PyTorch's message asks for it
  TENON_CHECK(index.numel() == count, "[index_reduce] Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", count, "), for dim: ", d);
  TENON_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool && !self.is_complex(),
                              "[index_reduce] is not implemented for '", self.scalar_type(), "'");
  check_index_values("index_reduce", index, d, self);
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 0) sizes[d] = count;
  return tenon::scatter_reduce(self, dim, index.reshape(sizes).expand(source.sizes()), source,
                               reduce, include_self);
}

}  // namespace tenon
