#include "tenon/native/constant_pad_nd.h"

#include <algorithm>

#include "aten/iterator/element_copy.h"
#include "tenon/ops/fill.h"

namespace tenon {
namespace {

/// The part of `t` that starts at `start` and has `sizes`.
TensorBase part(const TensorBase& t, IntArrayRef start, IntArrayRef sizes) {
  TensorBase result = make_detached(t);
  TensorImpl& impl = *result.unsafe_impl();
  for (size_t i = 0; i < sizes.size(); ++i) impl.storage_offset += start[i] * t.strides()[i];
  impl.set_sizes_and_strides(sizes, t.strides());
  impl.refresh_data();
  return result;
}

}  // namespace

/// pad = (before, after) of the last dimension, then of the one before it, ...; negative pads cut
/// off.
void native::constant_pad_nd_cpu(const Tensor& self, IntArrayRef pad, const Scalar& value,
                                 const Tensor& out) {
  Tensor result = out;
  ops::fill__Scalar::call(result, value);
  if (self.numel() == 0 || out.numel() == 0) return;
  const int64_t rank = self.dim();
  DimVector from(static_cast<size_t>(rank), 0), to(static_cast<size_t>(rank), 0),
      sizes(self.sizes());
  for (int64_t i = 0; i < static_cast<int64_t>(pad.size()) / 2; ++i) {
    const int64_t d = rank - 1 - i;
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    from[d] = std::max<int64_t>(-before, 0);
    to[d] = std::max<int64_t>(before, 0);
    sizes[d] -= from[d] + std::max<int64_t>(-after, 0);
    if (sizes[d] <= 0) return;
  }
  native::copy(part(out, to, sizes), part(self, from, sizes));
}

}  // namespace tenon
