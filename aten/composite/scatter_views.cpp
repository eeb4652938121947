#include "tenon/native/diagonal_scatter.h"
#include "tenon/native/select_scatter.h"
#include "tenon/native/slice_scatter.h"

namespace tenon {
namespace {

/// src in place of what `view` shows of a copy.
void replace(const char* op, const Tensor& view, const Tensor& src) {
  TENON_CHECK(view.sizes() == src.sizes(), "[", op,
              "] expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", view.sizes());
  view.copy_(src);
}

}  // namespace

/// A copy of self in which select(dim, index) is src.
Tensor native::select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor out = self.clone(MemoryFormat::Contiguous);
  replace("select_scatter", out.select(dim, index), src);
  return out;
}

Tensor native::slice_scatter(const Tensor& self, const Tensor& src, int64_t dim,
                             std::optional<int64_t> start, std::optional<int64_t> end,
                             int64_t step) {
  const Tensor out = self.clone(MemoryFormat::Contiguous);
  replace("slice_scatter", out.slice(dim, start, end, step), src);
  return out;
}

Tensor native::diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                                int64_t dim2) {
  const Tensor out = self.clone(MemoryFormat::Contiguous);
  replace("diagonal_scatter", out.diagonal(offset, dim1, dim2), src);
  return out;
}

}  // namespace tenon
