#include "tenon/native/repeat.h"

#include "aten/iterator/element_copy.h"

namespace tenon {

void native::repeat_cpu(const Tensor& self, IntArrayRef repeats, const Tensor& out) {
  if (out.numel() == 0) return;
  // Each dimension of the output is seen as [repeat, size]; the input broadcasts over the repeats.
  const auto added = static_cast<int64_t>(repeats.size()) - self.dim();
  DimVector to_sizes, to_strides, from_sizes, from_strides;
  for (int64_t i = 0; i < out.dim(); ++i) {
    const int64_t size = i < added ? 1 : self.sizes()[i - added];
    to_sizes.push_back(repeats[i]);
    to_strides.push_back(size * out.strides()[i]);
    to_sizes.push_back(size);
    to_strides.push_back(out.strides()[i]);
    from_sizes.push_back(1);
    from_strides.push_back(0);
    from_sizes.push_back(size);
    from_strides.push_back(i < added ? 0 : self.strides()[i - added]);
  }
  TensorBase to = make_detached(out);
  to.unsafe_impl()->set_sizes_and_strides(to_sizes, to_strides);
  TensorBase from = make_detached(self);
  from.unsafe_impl()->set_sizes_and_strides(from_sizes, from_strides);
  native::copy(to, from);
}

}  // namespace tenon
