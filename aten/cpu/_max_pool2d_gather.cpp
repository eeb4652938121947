#include "tenon/native/_max_pool2d_gather.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"

namespace tenon {

/// out[..., i] = self[..., indices[i]] with positions counted within a plane: what max_pool2d's
/// gradient is the transpose of.
void native::_max_pool2d_gather_cpu(const Tensor& self, const Tensor& indices, const Tensor& out) {
  if (out.numel() == 0) return;
  const ScalarType type = to_opmath_type(self.scalar_type());
  const int64_t in_size = self.size(-1) * self.size(-2),
                out_size = indices.size(-1) * indices.size(-2);
  const TensorBase x = contiguous(self, type), at = contiguous(indices, kLong);
  const ContiguousOutput y(out, type);
  TENON_DISPATCH_FLOATING(type, "_max_pool2d_gather", {
    parallel_for(
        0, out.numel() / out_size, std::max<int64_t>(1, 32768 / out_size),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin * out_size; i < end * out_size; ++i) {
            const int64_t position = at.data_ptr<int64_t>()[i];
            TENON_CHECK_INDEX(static_cast<uint64_t>(position) < static_cast<uint64_t>(in_size),
                              "[_max_pool2d_gather] index ", position,
                              " is out of range for a plane of ", in_size, " elements");
            y.data<scalar_t>()[i] = x.data_ptr<scalar_t>()[i / out_size * in_size + position];
          }
        });
  });
  y.copy_back();
}

}  // namespace tenon
