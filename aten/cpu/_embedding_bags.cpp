#include "tenon/native/_embedding_bags.h"

#include <algorithm>
#include <memory>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/meta/embedding_bags.h"

namespace tenon {

Tensor native::_embedding_bags_cpu(const Tensor& weight, const Tensor& indices,
                                   const Tensor& starts, bool mean) {
  meta::check_embedding_bags(weight, indices, starts);
  const int64_t bags = starts.numel() - 1, rows = weight.size(0), width = weight.size(1);
  const Tensor out(tenon::empty({bags, width}, weight.scalar_type(), weight.device()));
  const ScalarType type = weight.scalar_type();
  const TensorBase w = contiguous(weight), at = contiguous(indices, kLong),
                   from = contiguous(starts, kLong);
  const auto* index = at.data_ptr<int64_t>();
  const auto* start = from.data_ptr<int64_t>();
  for (int64_t b = 0; b <= bags; ++b) {
    TENON_CHECK(b == 0 ? start[b] == 0 : start[b - 1] <= start[b],
                "[embedding_bag] offsets must begin with 0 and not descend, got ", start[b],
                " at position ", b);
  }
  TENON_CHECK(start[bags] == at.numel(), "[embedding_bag] offsets must end with input's length ",
              at.numel(), ", got ", start[bags]);
  const int64_t each = std::max<int64_t>(1, width * at.numel() / std::max<int64_t>(bags, 1));
  TENON_DISPATCH_FLOATING_AND_REDUCED(type, "embedding_bag", {
    // Half types are sums of floats, rounded once.
    using Sum = opmath_type<scalar_t>;
    const auto* table = static_cast<const scalar_t*>(w.data_ptr());
    auto* to = static_cast<scalar_t*>(out.mutable_data_ptr());
    parallel_for(0, bags, std::max<int64_t>(1, 32768 / each), [&](int64_t begin, int64_t end) {
      const std::unique_ptr<Sum[]> sums(new Sum[static_cast<size_t>(width)]);
      for (int64_t b = begin; b < end; ++b) {
        const int64_t count = start[b + 1] - start[b];
        std::fill_n(sums.get(), width, Sum(0));
        for (int64_t i = start[b]; i < start[b + 1]; ++i) {
          TENON_CHECK_INDEX(index[i] >= 0 && index[i] < rows,
                            "[embedding_bag] index out of range in self: ", index[i], " for ", rows,
                            " rows");
          const scalar_t* row = table + index[i] * width;
          for (int64_t d = 0; d < width; ++d) sums[d] += static_cast<Sum>(row[d]);
        }
        const Sum divisor = mean ? static_cast<Sum>(std::max<int64_t>(count, 1)) : Sum(1);
        for (int64_t d = 0; d < width; ++d)
          to[b * width + d] = static_cast<scalar_t>(sums[d] / divisor);
      }
    });
  });
  return out;
}

}  // namespace tenon
