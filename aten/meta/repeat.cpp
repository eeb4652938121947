#include "tenon/native/repeat.h"

#include "aten/meta/tensor_spec.h"

namespace tenon {

TensorSpec native::repeat_meta(const Tensor& self, IntArrayRef repeats) {
  const auto added = static_cast<int64_t>(repeats.size()) - self.dim();
  TENON_CHECK(
      added >= 0,
      "[repeat] Number of dimensions of repeat dims can not be smaller than number of dimensions "
      "of tensor, got repeats ",
      repeats, " and sizes ", self.sizes());
  DimVector sizes(repeats);
  for (int64_t i = added; i < static_cast<int64_t>(sizes.size()); ++i)
    sizes[i] *= self.sizes()[i - added];
  numel_of(sizes);
  return TensorSpec(sizes, self);
}

}  // namespace tenon
