#include <algorithm>

#include "aten/meta/tensor_spec.h"
#include "tenon/native/_fft_c2c.h"
#include "tenon/native/_fft_c2r.h"
#include "tenon/native/_fft_r2c.h"

namespace tenon {
namespace {

void check_normalization(int64_t normalization) {
  TENON_CHECK(normalization >= 0 && normalization <= 2,
              "[fft] normalization must be 0, 1 or 2, got ", normalization);
}

/// The dimensions, counted from the front; the last of them is needed where `needs_one`.
DimVector wrapped(IntArrayRef dim, const Tensor& self, bool needs_one) {
  TENON_CHECK(!needs_one || !dim.empty(), "[fft] must transform at least one axis");
  DimVector dims;
  for (const int64_t d : dim) {
    dims.push_back(wrap_dim(d, self.dim()));
    TENON_CHECK(std::count(dims.begin(), dims.end(), dims.back()) == 1,
                "[fft] FFT dims must be unique, got ", dim);
    TENON_CHECK(self.size(d) > 0, "[fft] Invalid number of data points (0) specified");
  }
  return dims;
}

/// Dense strides with the transformed dimensions fastest, each part in the order in which it lies
/// in memory; the last of `dims` is the fastest where `keeps_last`.
DimVector result_strides(IntArrayRef sizes, IntArrayRef strides, DimVector dims, bool keeps_last) {
  const auto by_stride = [&](int64_t a, int64_t b) { return strides[a] > strides[b]; };
  std::stable_sort(dims.begin(), dims.end() - (keeps_last ? 1 : 0), by_stride);
  DimVector order;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) order.push_back(d);
  // Not stable: PyTorch's order of dimensions with equal strides.
  auto* const batch_end = std::partition(order.begin(), order.end(), [&](int64_t d) {
    return std::find(dims.begin(), dims.end(), d) == dims.end();
  });
  std::stable_sort(order.begin(), batch_end, by_stride);
  std::copy(dims.begin(), dims.end(), batch_end);
  DimVector result(sizes.size(), 1);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    result[order[i]] = step;
    step *= std::max<int64_t>(sizes[order[i]], 1);
  }
  return result;
}

}  // namespace

TensorSpec native::_fft_c2c_meta(const Tensor& self, IntArrayRef dim, int64_t normalization, bool) {
  check_normalization(normalization);
  TENON_CHECK(self.is_complex(),
              "[fft] Only supports complex dtypes, but found: ", self.scalar_type());
  const DimVector dims = wrapped(dim, self, false);
  return TensorSpec(self.sizes(), result_strides(self.sizes(), self.strides(), dims, false),
                    self.scalar_type(), self.device())
      .kept_apart();
}

TensorSpec native::_fft_r2c_meta(const Tensor& self, IntArrayRef dim, int64_t normalization,
                                 bool onesided) {
  check_normalization(normalization);
  TENON_CHECK_TYPE(self.is_floating_point(),
                   "[fft] Only supports floating-point dtypes, but found: ", self.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(!is_reduced_floating_point(self.scalar_type()),
                              "[fft] Unsupported dtype ", self.scalar_type());
  const DimVector dims = wrapped(dim, self, true);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (onesided) sizes[dims.back()] = sizes[dims.back()] / 2 + 1;
  return TensorSpec(sizes, result_strides(sizes, self.strides(), dims, true),
                    to_complex(self.scalar_type()), self.device())
      .kept_apart();
}

TensorSpec native::_fft_c2r_meta(const Tensor& self, IntArrayRef dim, int64_t normalization,
                                 int64_t last_dim_size) {
  check_normalization(normalization);
  TENON_CHECK(self.is_complex(),
              "[fft] Only supports complex dtypes, but found: ", self.scalar_type());
  TENON_CHECK(last_dim_size > 0, "[fft] Invalid number of data points (", last_dim_size,
              ") specified");
  DimVector dims = wrapped(dim, self, true);
  const int64_t last = dims.back();
  TENON_CHECK(self.size(last) == last_dim_size / 2 + 1, "[fft] ", last_dim_size,
              " real values follow from ", last_dim_size / 2 + 1, " complex ones, got ",
              self.size(last), " in dimension ", last);
  dims.pop_back();
  // The others are transformed first, into a tensor whose order in memory counts.
  const DimVector between = dims.empty()
                                ? DimVector(self.strides().begin(), self.strides().end())
                                : result_strides(self.sizes(), self.strides(), dims, false);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[last] = last_dim_size;
  return TensorSpec(sizes, result_strides(sizes, between, DimVector{last}, true),
                    to_real(self.scalar_type()), self.device())
      .kept_apart();
}

}  // namespace tenon
