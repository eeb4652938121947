#include "tenon/native/constant_pad_nd.h"

#include <algorithm>

#include "aten/meta/strides.h"
#include "aten/meta/tensor_spec.h"

namespace tenon {

TensorSpec native::constant_pad_nd_meta(const Tensor& self, IntArrayRef pad, const Scalar&) {
  TENON_CHECK(pad.size() % 2 == 0,
              "[constant_pad_nd] Length of pad must be even but instead it equals ", pad.size());
  TENON_CHECK(static_cast<int64_t>(pad.size()) <= 2 * self.dim(),
              "[constant_pad_nd] Length of pad should be no more than twice the number of "
              "dimensions of the input. "
              "Pad length is ",
              pad.size(), " while the input has ", self.dim(), " dimensions.");
  DimVector sizes(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = sizes[sizes.size() - 1 - i];
    int64_t padded = 0;
    const bool counted = !__builtin_add_overflow(size, pad[2 * i], &padded) &&
                         !__builtin_add_overflow(padded, pad[2 * i + 1], &padded);
    TENON_CHECK(counted, "[constant_pad_nd] padding ", pad, " of sizes ", self.sizes(),
                " gives more elements than can be counted");
    TENON_CHECK(padded >= 0, "[constant_pad_nd] The input size ", size, ", plus negative padding ",
                pad[2 * i], " and ", pad[2 * i + 1],
                " resulted in a negative output size, which is invalid. Check dimension ",
                sizes.size() - 1 - i, " of your input.");
    const int64_t kept =
        size + std::min<int64_t>(pad[2 * i], 0) + std::min<int64_t>(pad[2 * i + 1], 0);
    TENON_CHECK(kept >= 0, "[constant_pad_nd] negative padding ", pad[2 * i], " and ",
                pad[2 * i + 1], " cuts off more than the ", size, " elements of dimension ",
                sizes.size() - 1 - i);
    size = padded;
  }
  return TensorSpec(sizes, meta::strides_like(self, sizes), self.scalar_type(), self.device());
}

}  // namespace tenon
