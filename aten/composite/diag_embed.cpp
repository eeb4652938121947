#include "tenon/native/diag_embed.h"

#include <algorithm>

#include "tenon/native/fill_diagonal.h"
#include "tenon/ops/diagonal_backward.h"

namespace tenon {

/// Zeros but for the diagonals of dim1 and dim2 of the result, which are self's last dimension.
Tensor native::diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t dims = self.dim() + 1;
  const int64_t d1 = wrap_dim(dim1, dims), d2 = wrap_dim(dim2, dims);
  TENON_CHECK(d1 != d2, "[diag_embed] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t size = 0;
  TENON_CHECK(offset != INT64_MIN &&
                  !__builtin_add_overflow(self.size(-1), std::abs(offset), &size),
              "[diag_embed] offset ", offset, " is too large");
  DimVector sizes(self.sizes().slice(0, static_cast<size_t>(self.dim() - 1)));
  sizes.insert(sizes.begin() + std::min(d1, d2), size);
  sizes.insert(sizes.begin() + std::max(d1, d2), size);
  return diagonal_backward(self, sizes, offset, d1, d2);  // which is this very operator
}

/// The elements whose places are the same in all dimensions. With wrap, a matrix with more rows
/// than columns has, after a row of none, its next diagonal.
Tensor& native::fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  TENON_CHECK(self.dim() >= 2, "[fill_diagonal_] dimensions must larger than 1, got ", self.dim());
  int64_t count = self.size(0), step = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    TENON_CHECK(self.dim() == 2 || self.size(d) == self.size(0),
                "[fill_diagonal_] all dimensions of input must be of equal length, got ",
                self.sizes());
    count = std::min(count, self.size(d));
    step += self.stride(d);
  }
  self.as_strided({count}, {step}, self.storage_offset()).fill_(fill_value);
  if (wrap && self.dim() == 2) {
    const int64_t rows = self.size(0), columns = self.size(1);
    for (int64_t row = columns + 1; columns > 0 && row < rows; row += columns + 1)
      self.narrow(0, row, rows - row).diagonal().fill_(fill_value);
  }
  return self;
}

}  // namespace tenon
