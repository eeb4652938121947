#include "tenon/native/_resample.h"

#include "aten/common/contiguous.h"
#include "aten/cpu/index_range.h"
#include "aten/cpu/resample_rows.h"

namespace tenon {

void native::_resample_cpu(const Tensor& self, int64_t dim, const Tensor& starts,
                           const Tensor& indices, const Tensor& weights, const Tensor&,
                           const Tensor&, const Tensor&, const Tensor& out) {
  const DimSplit s(self.sizes(), dim);
  const TensorBase from = contiguous(starts, kLong), at = contiguous(indices, kLong);
  const auto* first = from.data_ptr<int64_t>();
  const auto* index = at.data_ptr<int64_t>();
  const int64_t size = from.numel() - 1;
  bool fits = first[0] >= 0 && first[size] <= at.numel();
  for (int64_t i = 0; i < size; ++i) fits = fits && first[i] <= first[i + 1];
  TENON_CHECK_INDEX(fits && all_in_range(index, at.numel(), s.length),
                    "[_resample] starts must ascend within indices, and indices lie within "
                    "dimension ",
                    dim, " of size ", s.length);
  const ScalarType type = to_opmath_type(self.scalar_type());
  const TensorBase x = contiguous(self, type), w = contiguous(weights, type);
  const ContiguousOutput y(out, type);
  TENON_DISPATCH_FLOATING(type, "_resample", {
    resample_rows<scalar_t>(x.data_ptr<scalar_t>(), y.data<scalar_t>(), s.outer, s.inner,
                            {s.length, size, first, index, w.data_ptr<scalar_t>()});
  });
  y.copy_back();
}

}  // namespace tenon
