#include "tenon/native/index_fill.h"

#include <algorithm>
#include <cstring>

#include "aten/common/contiguous.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/index_range.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/number_fits.h"

namespace tenon {

/// out = self; out[i][index[k]][j] = value. Negative indices count from the end.
void native::index_fill_int_Scalar_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                                       const Scalar& value, const Tensor& out) {
  const ContiguousOutput result(out);
  if (!result.tensor().is_same(self)) native::copy(result.tensor(), self);
  const int64_t d = wrap_dim(dim, self.dim());
  const DimSplit split(self.sizes(), d);
  const TensorBase at = contiguous(index, kLong);
  check_number_fits("index_fill", value, self.scalar_type());
  const int64_t* indices = checked_indices("index_fill", at, split.length, d, true);
  alignas(16) char bytes[16];
  TENON_DISPATCH_ALL(self.scalar_type(), "index_fill", {
    const auto element = value.to<scalar_t>();
    std::memcpy(bytes, &element, sizeof(element));
  });
  // By size, since the compiler vectorises integers and not half types.
  dispatch_size(self.element_size(), [&]<class T>() {
    T element;
    std::memcpy(&element, bytes, sizeof(T));
    auto* o = static_cast<T*>(result.data());
    for (int64_t i = 0; i < split.outer; ++i) {
      for (int64_t k = 0; k < at.numel(); ++k) {
        const int64_t row = indices[k] < 0 ? indices[k] + split.length : indices[k];
        std::fill_n(o + (i * split.length + row) * split.inner, split.inner, element);
      }
    }
  });
  result.copy_back();
}

}  // namespace tenon
