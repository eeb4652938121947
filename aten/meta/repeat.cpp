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
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
    const int64_t own = i < added ? 1 : self.sizes()[i - added];
    TENON_CHECK(repeats[i] >= 0 && !__builtin_mul_overflow(repeats[i], own, &sizes[i]),
                "[repeat] Trying to create tensor with negative dimension or one that cannot be "
                "counted, got repeats ",
                repeats, " for sizes ", self.sizes());
  }
  numel_of(sizes);
  return TensorSpec(sizes, self);
}

}  // namespace tenon
