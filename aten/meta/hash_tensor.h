#pragma once

#include "aten/common/dims.h"
#include "tenon/tensor.h"

namespace tenon::native {

/// What hash_tensor() reduces: `kept` rows of `reduced` elements once self's dimensions are in that
/// order, those that are kept first.
struct HashedRows {
  DimVector order, sizes;  // sizes of the result
  int64_t kept = 1, reduced = 1;

  HashedRows(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
    const uint64_t mask = dim_mask("hash_tensor", dim, self.dim());
    TENON_CHECK(mode == 0, "[hash_tensor] Unknown hash_tensor mode: ", mode);
    TENON_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "[hash_tensor] is not implemented for '",
                                self.scalar_type(), "'");
    TENON_CHECK(self.numel() > 0 || !dim.empty(),
                "[hash_tensor] Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument.");
    sizes = reduced_sizes(self.sizes(), mask, keepdim);
    for (const bool is_reduced : {false, true}) {
      for (int64_t d = 0; d < self.dim(); ++d) {
        if (((mask >> d & 1) != 0) != is_reduced) continue;
        TENON_CHECK_INDEX(!is_reduced || self.size(d) > 0, "[hash_tensor] Expected reduction dim ",
                          d, " to have non-zero size.");
        order.push_back(d);
        (is_reduced ? reduced : kept) *= self.size(d);
      }
    }
  }
};

}  // namespace tenon::native
