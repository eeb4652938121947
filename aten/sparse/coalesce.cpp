#include "tenon/native/coalesce.h"

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_coalesce.h"
#include "tenon/ops/_coalesce.h"

namespace tenon {

Tensor native::coalesce(const Tensor& self) {
  TENON_CHECK(self.layout() == kSparse,
              "coalesce expected sparse coordinate tensor layout but got ",
              sparse::name_of(self.layout()));
  return sparse::content_of(self).coalesced ? self : ops::_coalesce::call(self);
}

/// Elements of one place are added. Places come in ascending order.
Tensor native::_coalesce(const Tensor& self) {
  const SparseValue& content = sparse::content_of(self);
  const IntArrayRef sizes = self.sizes().slice(0, static_cast<size_t>(content.sparse_dim));
  const Tensor indices = sparse::indices_of(self), values = sparse::values_of(self);
  if (indices.size(1) < 2)
    return sparse::make_coo(self.sizes(), content.sparse_dim, indices, values, true);
  const sparse::Groups groups = sparse::group_equal(sparse::flat_positions(indices, sizes));
  return sparse::make_coo(self.sizes(), content.sparse_dim, sparse::indices_at(groups.keys, sizes),
                          sparse::sum_groups(values, groups.group, groups.keys.numel()), true);
}

}  // namespace tenon
