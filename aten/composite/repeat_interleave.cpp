#include "tenon/native/repeat_interleave.h"

#include <algorithm>

#include "tenon/ops/to.h"

namespace tenon {

/// i as many times as repeats[i] says, in order.
Tensor native::repeat_interleave_Tensor(const Tensor& repeats, std::optional<int64_t> output_size) {
  TENON_CHECK(repeats.dim() == 1, "[repeat_interleave] only accept 1D vector as repeat, got shape ",
              repeats.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(is_integral(repeats.scalar_type(), false),
                              "[repeat_interleave] is not implemented for repeats of ",
                              repeats.scalar_type());
  if (repeats.is_meta()) {
    TENON_CHECK_NOT_IMPLEMENTED(output_size,
                                "[repeat_interleave] meta tensors hold no repeats: output_size "
                                "must say how many elements there are");
    return tenon::empty({*output_size}, repeats.scalar_type(), repeats.device());
  }
  const Tensor counts = repeats.to(kCPU, kLong).contiguous();
  const auto* count = static_cast<const int64_t*>(counts.const_data_ptr());
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    TENON_CHECK(count[i] >= 0, "[repeat_interleave] repeats can not be negative, got ", count[i]);
    TENON_CHECK(!__builtin_add_overflow(total, count[i], &total),
                "[repeat_interleave] the result has more elements than can be counted");
  }
  TENON_CHECK(!output_size || *output_size == total,
              "[repeat_interleave] allocated size does not match required size, got output_size ",
              output_size.value_or(0), " and repeats that add up to ", total);
  const Tensor places(tenon::empty({total}, kLong, kCPU));
  auto* to = static_cast<int64_t*>(places.data_ptr());
  for (int64_t i = 0; i < counts.numel(); ++i) to = std::fill_n(to, count[i], i);
  return places.to(repeats.device(), repeats.scalar_type());
}

Tensor native::repeat_interleave_self_int(const Tensor& self, int64_t repeats,
                                          std::optional<int64_t> dim,
                                          std::optional<int64_t> output_size) {
  const Tensor x = dim ? self : self.flatten();
  const int64_t d = wrap_dim(dim.value_or(0), x.dim());
  TENON_CHECK(repeats >= 0, "[repeat_interleave] Repeats must be non-negative, got ", repeats);
  DimVector sizes(x.sizes());
  sizes.insert(sizes.begin() + d + 1, repeats);
  const Tensor out = x.unsqueeze(d + 1).expand(sizes).clone(MemoryFormat::Contiguous);
  TENON_CHECK(!output_size || *output_size == x.size(d) * repeats,
              "[repeat_interleave] allocated size does not match required size, got output_size ",
              output_size.value_or(0), " for ", x.size(d), " * ", repeats);
  return out.flatten(d, d + 1);
}

}  // namespace tenon
