#include "tenon/native/baddbmm.h"

#include "aten/meta/checks.h"

namespace tenon {

/// self broadcast to [b, m, n]; batch1 [b, m, k], batch2 [b, k, n] -> [b, m, n]
TensorSpec native::baddbmm_meta(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                                const Scalar&, const Scalar&) {
  // IndexErrors of fewer dimensions, as PyTorch's
  batch1.size(0), batch1.size(1), batch2.size(2);
  TENON_CHECK(batch1.dim() == 3, "[baddbmm] batch1 must be a 3D tensor, got shape ",
              batch1.sizes());
  TENON_CHECK(batch2.dim() == 3, "[baddbmm] batch2 must be a 3D tensor, got shape ",
              batch2.sizes());
  TENON_CHECK(batch1.size(0) == batch2.size(0) && batch1.size(2) == batch2.size(1),
              "[baddbmm] Expected size for first two dimensions of batch2 tensor to be: [",
              batch1.size(0), ", ", batch1.size(2), "] but got: [", batch2.size(0), ", ",
              batch2.size(1), "].");
  meta::check_same("baddbmm", "batch1", batch1, "batch2", batch2);
  meta::check_same("baddbmm", "self", self, "batch2", batch2);
  const DimVector sizes{batch1.size(0), batch1.size(1), batch2.size(2)};
  meta::check_expandable("baddbmm", "self", self.sizes(), sizes);
  return TensorSpec(sizes, batch1);
}

}  // namespace tenon
