#include "tenon/native/fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <cwchar>
#include <limits>

#include "aten/core/parallel.h"
#include "aten/iterator/copy.h"
#include "tenon/native/zero.h"
#include "tenon/ops/_local_scalar_dense.h"

namespace tenon {
namespace {

constexpr int64_t kParallelBytes = 1 << 18;

/// Error unless the number can be stored in T. Negative integers wrap around in unsigned types.
template <class T>
void check_fits(const Scalar& value) {
  bool fits = true;
  if constexpr (std::is_same_v<T, bool> || is_complex(scalar_type_of<T>)) {
    return;
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (value.is_integral(true)) {
      const int64_t v = value.toLong();
      const int64_t lowest = std::is_signed_v<T> ? static_cast<int64_t>(Limits::min())
                                                 : -static_cast<int64_t>(Limits::max());
      fits = v >= lowest && v <= static_cast<int64_t>(Limits::max());
    } else {
      const double v = value.toDouble();
      fits = v >= static_cast<double>(Limits::min()) && v <= static_cast<double>(Limits::max());
    }
  } else {
    const double largest = std::is_same_v<T, Half> ? 65504.0
                           : std::is_same_v<T, double>
                               ? std::numeric_limits<double>::max()
                               : static_cast<double>(std::numeric_limits<float>::max());
    const double v = value.toDouble();
    fits = !std::isfinite(v) || std::fabs(v) <= largest;
  }
  if (value.is_complex()) fits &= value.toComplexDouble().imag() == 0;
  TENON_CHECK_VALUE(fits, "[fill_] value cannot be converted to type ", scalar_type_of<T>,
                    " without overflow, got ", value);
}

template <class T>
void fill_range(T* begin, T* end, T value) {
  if constexpr (sizeof(T) == sizeof(wchar_t)) {
    // The C library picks its stores for the machine.
    std::wmemset(reinterpret_cast<wchar_t*>(begin), __builtin_bit_cast(wchar_t, value),
                 static_cast<size_t>(end - begin));
  } else {
    std::fill(begin, end, value);
  }
}

}  // namespace

Tensor& native::fill_scalar_cpu_(Tensor& self, const Scalar& value) {
  TENON_DISPATCH_ALL(self.scalar_type(), "fill_", {
    check_fits<scalar_t>(value);
    const auto v = value.to<scalar_t>();
    const int64_t n = self.numel();
    if (TENON_LIKELY(self.is_non_overlapping_and_dense())) {
      auto* data = static_cast<scalar_t*>(self.mutable_data_ptr());
      parallel_for(
          0, n, kParallelBytes / static_cast<int64_t>(sizeof(scalar_t)),
          [data, v](int64_t begin, int64_t end) { fill_range(data + begin, data + end, v); });
      return;
    }
    const TensorBase number = tenon::empty({}, self.scalar_type(), kCPU);
    *static_cast<scalar_t*>(number.mutable_data_ptr()) = v;
    copy(self, number);
  });
  return self;
}

Tensor& native::fill_tensor_cpu_(Tensor& self, const Tensor& value) {
  TENON_CHECK(value.dim() == 0,
              "[fill_] fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return native::fill_scalar_cpu_(self, ops::_local_scalar_dense::call(value));
}

Tensor& native::zero_cpu_(Tensor& self) {
  if (!self.is_non_overlapping_and_dense()) return native::fill_scalar_cpu_(self, 0);
  auto* data = static_cast<char*>(self.mutable_data_ptr());
  parallel_for(0, static_cast<int64_t>(self.nbytes()), kParallelBytes,
               [data](int64_t begin, int64_t end) { std::memset(data + begin, 0, end - begin); });
  return self;
}

}  // namespace tenon
