#include "tenon/native/transpose.h"

#include "aten/composite/show_as.h"
#include "tenon/native/movedim.h"
#include "tenon/native/permute.h"
#include "tenon/native/permute_backward.h"
#include "tenon/native/t.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/transpose.h"

#include <utility>

namespace tenon {

Tensor native::transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim());
  const int64_t b = wrap_dim(dim1, self.dim());
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor native::t(const Tensor& self) {
  TENON_CHECK(self.dim() <= 2, "[t] t() expects a tensor with <= 2 dimensions, but self is ",
              self.dim(), "D");
  return native::transpose(self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor& native::transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return show_as(self, native::transpose(self, dim0, dim1));
}

Tensor& native::t_(Tensor& self) { return show_as(self, native::t(self)); }

Tensor native::permute(const Tensor& self, IntArrayRef dims) {
  const auto rank = static_cast<size_t>(self.dim());
  TENON_CHECK(dims.size() == rank, "[permute] expected one entry for each of the ", rank,
              " dimensions of a tensor with sizes ", self.sizes(), ", got dims ", dims);
  DimVector sizes(rank);
  DimVector strides(rank);
  SmallVector<bool, 8> seen(rank, false);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t d = wrap_dim(dims[i], self.dim());
    TENON_CHECK(!seen[d], "[permute] duplicate dims are not allowed, got ", dims);
    seen[d] = true;
    sizes[i] = self.sizes()[d];
    strides[i] = self.strides()[d];
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor native::permute_backward(const Tensor& grad, IntArrayRef dims) {
  DimVector inverse(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    inverse[wrap_dim(dims[i], grad.dim())] = static_cast<int64_t>(i);
  }
  return ops::permute::call(grad, inverse);
}

Tensor native::movedim_intlist(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TENON_CHECK(source.size() == destination.size(),
              "[movedim] Invalid source or destination dims: source (", source,
              " dims) should contain the same number of dims as destination (", destination,
              " dims)");
  const int64_t rank = self.dim();
  DimVector order(rank, -1);
  SmallVector<bool, 8> moved(rank, false);
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrap_dim(source[i], rank);
    const int64_t to = wrap_dim(destination[i], rank);
    if (rank == 0) return ops::permute::call(self, {});
    TENON_CHECK(!moved[from], "[movedim] repeated dim in `source` (", source, ")");
    TENON_CHECK(order[to] == -1, "[movedim] repeated dim in `destination` (", destination, ")");
    moved[from] = true;
    order[to] = from;
  }
  int64_t next = 0;
  for (int64_t& entry : order) {
    if (entry != -1) continue;
    while (moved[next]) ++next;
    entry = next++;
  }
  return ops::permute::call(self, order);
}

Tensor native::movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return native::movedim_intlist(self, source, destination);
}

}  // namespace tenon
