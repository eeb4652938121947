#include "tenon/native/roll.h"

#include <cstring>

#include "aten/common/contiguous.h"

namespace tenon {

/// Along each dim, element i comes from i - shift, cyclically.
void native::roll_cpu(const Tensor& self, IntArrayRef shifts, IntArrayRef dims, const Tensor& out) {
  if (out.numel() == 0) return;
  const TensorBase in = contiguous(self);
  const ContiguousOutput result(out);
  const auto item = static_cast<int64_t>(in.element_size());
  TensorBase current = in;
  const size_t steps = shifts.size();
  for (size_t s = 0; s < steps; ++s) {
    // Several dims take a tensor in between each, since source and target must differ.
    const TensorBase target =
        s + 1 == steps ? result.tensor() : tenon::empty(in.sizes(), in.scalar_type(), kCPU);
    const DimSplit split =
        dims.empty() ? DimSplit(in.numel(), 0) : DimSplit(in.sizes(), wrap_dim(dims[s], in.dim()));
    const int64_t shift = (shifts[s] % split.length + split.length) % split.length;
    const int64_t head = (split.length - shift) * split.inner * item;
    const int64_t tail = shift * split.inner * item;
    const auto* from = static_cast<const char*>(current.const_data_ptr());
    auto* to = static_cast<char*>(target.mutable_data_ptr());
    for (int64_t o = 0; o < split.outer; ++o) {
      std::memcpy(to, from + head, static_cast<size_t>(tail));
      std::memcpy(to + tail, from, static_cast<size_t>(head));
      from += head + tail;
      to += head + tail;
    }
    current = target;
  }
  result.copy_back();
}

}  // namespace tenon
