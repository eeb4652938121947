#include "tenon/native/_spdiags.h"

#include <set>

#include "aten/sparse/sparse_tensor.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/sparse_coo_tensor.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/zeros.h"

namespace tenon {

/// A matrix with diagonals[k, j] at row j - offsets[k] and column j.
Tensor native::_spdiags(const Tensor& diagonals, const Tensor& offsets, IntArrayRef shape,
                        std::optional<Layout> layout) {
  const Tensor lines = diagonals.dim() == 1 ? ops::unsqueeze::call(diagonals, 0) : diagonals;
  TENON_CHECK(lines.dim() == 2, "Diagonals must be vector or matrix");
  TENON_CHECK(shape.size() == 2, "Output shape must be 2d");
  const Tensor which = offsets.dim() == 0 ? ops::unsqueeze::call(offsets, 0) : offsets;
  TENON_CHECK(which.dim() == 1, "Offsets must be scalar or vector");
  TENON_CHECK(which.numel() == lines.size(0), "Number of diagonals (", lines.size(0),
              ") does not match the number of offsets (", which.numel(), ")");
  TENON_CHECK(which.scalar_type() == kLong, "Offset Tensor must have dtype Long but got ",
              which.scalar_type());
  TENON_CHECK(!layout || *layout == kSparse || *layout == kSparseCsr || *layout == kSparseCsc,
              "Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got ", *layout);
  std::set<int64_t> seen;
  std::vector<Tensor> places = {tenon::zeros({2, 0}, kLong)};
  std::vector<Tensor> values = {tenon::zeros({0}, lines.scalar_type())};
  for (int64_t k = 0; k < lines.size(0); ++k) {
    const auto offset = which.select(0, k).item<int64_t>();
    TENON_CHECK(seen.insert(offset).second, "Offset tensor contains duplicate values");
    const int64_t first = std::max<int64_t>(offset, 0);
    const int64_t end = std::min({lines.size(1), shape[1], shape[0] + offset});
    if (end <= first) continue;
    const Tensor columns = tenon::arange(first, end, kLong);
    const Tensor both[] = {columns - offset, columns};
    places.push_back(ops::stack::call(both, 0));
    values.push_back(lines.select(0, k).narrow(0, first, end - first));
  }
  const Tensor matrix =
      tenon::sparse_coo_tensor(ops::cat::call(places, 1), ops::cat::call(values, 0), shape);
  if (layout.value_or(kSparse) == kSparse) return matrix;
  return matrix.to_sparse(*layout);
}

}  // namespace tenon
