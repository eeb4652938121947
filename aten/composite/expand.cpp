#include "tenon/native/expand.h"

#include "tenon/native/sum_to_size.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sum.h"

namespace tenon {

Tensor native::expand(const Tensor& self, IntArrayRef size, bool) {
  const auto rank = static_cast<int64_t>(size.size());
  const int64_t added = rank - self.dim();
  TENON_CHECK(added >= 0, "[expand] expand(", self.scalar_type(), "Tensor{", self.sizes(),
              "}, size=", size, "): the number of sizes provided (", rank,
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(),
              ")");
  DimVector sizes(size);
  DimVector strides(size.size());
  for (int64_t i = rank; i-- > 0;) {
    const int64_t own = i >= added ? self.sizes()[i - added] : 1;
    if (sizes[i] == -1) {
      TENON_CHECK(i >= added,
                  "[expand] The expanded size of the tensor (-1) isn't allowed in a "
                  "leading, non-existing dimension ",
                  i);
      sizes[i] = own;
    }
    TENON_CHECK(sizes[i] == own || (own == 1 && sizes[i] >= 0),
                "[expand] The expanded size of the tensor (", sizes[i],
                ") must match the existing size (", own, ") at non-singleton dimension ", i,
                ".  Target sizes: ", size, ".  Tensor sizes: ", self.sizes());
    if (i >= added && sizes[i] == own) {
      strides[i] = self.strides()[i - added];
    } else {
      // A new dimension of size 1 lies over the whole of what follows it.
      strides[i] = sizes[i] == 1 && i + 1 < rank ? sizes[i + 1] * strides[i + 1] : 0;
    }
  }
  numel_of(sizes);  // no memory limits what broadcasting repeats
  return make_view(self, sizes, strides, self.storage_offset());
}

/// The inverse of expand: sums over the dimensions that broadcasting `size` to self's sizes adds or
/// stretches.
Tensor native::sum_to_size(const Tensor& self, IntArrayRef size) {
  if (self.sizes() == size) {
    // A single number too is summed, integers of a narrow dtype to int64, as in PyTorch.
    return size.empty() ? ops::sum::call(self, std::nullopt) : self;
  }
  const int64_t added = self.dim() - static_cast<int64_t>(size.size());
  DimVector dims;
  bool fits = added >= 0;
  for (int64_t i = 0; fits && i < self.dim(); ++i) {
    const int64_t wanted = i < added ? 1 : size[i - added];
    if (i < added || (wanted == 1 && self.sizes()[i] != 1)) dims.push_back(i);
    fits = i < added || wanted == 1 || wanted == self.sizes()[i];
  }
  TENON_CHECK(fits, "[sum_to_size] size {", size, "} is not expandable to size {", self.sizes(),
              "}.");
  if (dims.empty()) return self;
  Tensor summed = ops::sum_dim_IntList::call(self, IntArrayRef(dims), true, std::nullopt);
  return added > 0 ? ops::reshape::call(summed, size) : summed;
}

}  // namespace tenon
