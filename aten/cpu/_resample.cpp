#include "tenon/native/_resample.h"

#include "aten/cpu/index_range.h"
#include "aten/cpu/plain.h"
#include "aten/cpu/resample_rows.h"

namespace tenon {

void native::_resample_cpu(const Tensor& self, int64_t dim, const Tensor& starts,
                           const Tensor& indices, const Tensor& weights, const Tensor&,
                           const Tensor&, const Tensor&, const Tensor& out) {
  const Split s(self.sizes(), dim);
  const TensorBase from = plain_input(starts, kLong), at = plain_input(indices, kLong);
  const auto* first = from.data_ptr<int64_t>();
  const auto* index = at.data_ptr<int64_t>();
  const int64_t size = from.numel() - 1;
  bool fits = first[0] >= 0 && first[size] <= at.numel();
  for (int64_t i = 0; i < size; ++i) fits = fits && first[i] <= first[i + 1];
  TENON_CHECK_INDEX(fits && all_in_range(index, at.numel(), s.n),
                    "[_resample] starts must ascend within indices, and indices lie within "
                    "dimension ",
                    dim, " of size ", s.n);
  const ScalarType type = opmath_type(self.scalar_type());
  const TensorBase x = plain_input(self, type), w = plain_input(weights, type);
  const PlainOutput y(out, type);
  TENON_DISPATCH_FLOATING(type, "_resample", {
    resample_rows<scalar_t>(x.data_ptr<scalar_t>(), y.data<scalar_t>(), s.outer, s.inner,
                            {s.n, size, first, index, w.data_ptr<scalar_t>()});
  });
  y.deliver();
}

}  // namespace tenon
