#include "tenon/native/fill.h"

#include <algorithm>
#include <cstring>
#include <cwchar>

#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/number_fits.h"
#include "aten/iterator/storage_only.h"
#include "tenon/native/zero.h"
#include "tenon/ops/_local_scalar_dense.h"

namespace tenon {
namespace {

constexpr int64_t kFilledBytes = 1 << 18;

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

/// `self` without its repetitions: filling may write an element that others share.
TensorBase once(const TensorBase& self) {
  DimVector sizes(self.sizes());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (self.strides()[d] == 0) sizes[d] = std::min<int64_t>(sizes[d], 1);
  }
  TensorBase result = make_detached(self);
  result.unsafe_impl()->set_sizes_and_strides(sizes, self.strides());
  return result;
}

}  // namespace

Tensor& native::fill_scalar_cpu_(Tensor& self, const Scalar& value) {
  const ScalarType type = self.scalar_type();
  check_number_fits("fill_", value, type);
  alignas(16) char bytes[16] = {};
  if (is_storage_only(type)) {
    store_storage_only(bytes, value, type);
  } else {
    TENON_DISPATCH_ALL(type, "fill_", {
      const auto element = value.to<scalar_t>();
      std::memcpy(bytes, &element, sizeof(element));
    });
  }
  if (TENON_UNLIKELY(!self.is_non_overlapping_and_dense())) {
    const TensorBase number = tenon::empty({}, type, kCPU);
    std::memcpy(number.mutable_data_ptr(), bytes, element_size(type));
    copy(once(self), number);
    return self;
  }
  dispatch_size(element_size(type), [&]<class T>() {
    T element;
    std::memcpy(&element, bytes, sizeof(T));
    auto* data = static_cast<T*>(self.mutable_data_ptr());
    parallel_for(0, self.numel(), kFilledBytes / static_cast<int64_t>(sizeof(T)),
                 [data, element](int64_t begin, int64_t end) {
                   fill_range(data + begin, data + end, element);
                 });
  });
  return self;
}

Tensor& native::fill_tensor_cpu_(Tensor& self, const Tensor& value) {
  TENON_CHECK(value.dim() == 0,
              "[fill_] fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  // Cast as copy_ does: a number may overflow, an imaginary part is dropped.
  const Tensor cast = value.to(self.scalar_type());
  return native::fill_scalar_cpu_(self, ops::_local_scalar_dense::call(cast));
}

Tensor& native::zero_cpu_(Tensor& self) {
  if (!self.is_non_overlapping_and_dense()) return native::fill_scalar_cpu_(self, 0);
  auto* data = static_cast<char*>(self.mutable_data_ptr());
  parallel_for(0, static_cast<int64_t>(self.nbytes()), kFilledBytes,
               [data](int64_t begin, int64_t end) { std::memset(data + begin, 0, end - begin); });
  return self;
}

}  // namespace tenon
