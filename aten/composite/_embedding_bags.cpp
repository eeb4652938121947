#include "tenon/native/_embedding_bags.h"

#include "aten/composite/to_opmath_type.h"
#include "aten/meta/embedding_bags.h"
#include "tenon/ops/diff.h"
#include "tenon/ops/div.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/repeat_interleave.h"
#include "tenon/ops/zeros.h"

namespace tenon {

/// On backends without a kernel of their own. Half types are sums of floats, rounded once.
Tensor native::_embedding_bags(const Tensor& weight, const Tensor& indices, const Tensor& starts,
                               bool mean) {
  meta::check_embedding_bags(weight, indices, starts);
  const int64_t bags = starts.numel() - 1;
  const Tensor rows = to_opmath_type(index_select(weight, 0, indices)), counts = starts.diff();
  const Tensor bag = repeat_interleave(counts, std::optional<int64_t>(indices.numel()));
  const Tensor sums = zeros({bags, weight.size(1)}, rows.options()).index_add(0, bag, rows);
  return (mean ? sums / counts.clamp_min(1).unsqueeze(1) : sums).to(weight.scalar_type());
}

}  // namespace tenon
