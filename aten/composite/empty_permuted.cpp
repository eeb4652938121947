#include "tenon/native/empty_permuted.h"
#include "aten/composite/factory_options.h"

namespace tenon {

/// An uninitialised tensor of `size` whose dimensions lie in memory in the order of
/// physical_layout, a permutation.
Tensor native::empty_permuted(IntArrayRef size, IntArrayRef physical_layout,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o =
      factory_options("empty_permuted", dtype, layout, device, pin_memory, get_default_dtype());
  const auto dim = static_cast<int64_t>(size.size());
  TENON_CHECK(physical_layout.size() == size.size(),
              "[empty_permuted] Number of dimensions in size does not match the length of the "
              "physical_layout; i.e. len(size) = ",
              dim, " is not equal to len(physical_layout) = ", physical_layout.size());
  DimVector strides(size.size(), -1);
  int64_t stride = 1;
  for (int64_t i = dim - 1; i >= 0; --i) {
    const int64_t at = physical_layout[static_cast<size_t>(i)];
    TENON_CHECK(at >= 0 && at < dim,
                "[empty_permuted] Dimension out of range (expected to be between 0 and ", dim - 1,
                ", but got ", at, " at index ", i, "); it may not be negative");
    int64_t& one = strides[static_cast<size_t>(at)];
    TENON_CHECK(one == -1, "[empty_permuted] Duplicate dim not allowed, got ", at);
    one = stride;
    stride *= std::max<int64_t>(size[static_cast<size_t>(at)], 1);
  }
  return tenon::empty_strided(size, strides, o.dtype, o.device);
}

}  // namespace tenon
