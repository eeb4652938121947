#include "tenon/native/view.h"

#include <algorithm>

#include "aten/common/dims.h"
#include "tenon/native/_unsafe_view.h"
#include "tenon/native/reshape.h"
#include "tenon/ops/_unsafe_view.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/view.h"

namespace tenon {

Tensor native::view(const Tensor& self, IntArrayRef size) {
  const DimVector sizes = infer_size("view", size, self.numel());
  if (TENON_LIKELY(self.is_contiguous())) return make_contiguous_view(self, sizes);
  const auto strides = view_strides(self.sizes(), self.strides(), sizes);
  TENON_CHECK(
      strides,
      "[view] view size is not compatible with input tensor's size and stride (at least one "
      "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return make_view(self, sizes, *strides, self.storage_offset());
}

/// The same bytes as elements of another dtype. Of another size they must divide the last
/// dimension, whose elements lie one behind the other; sizes and strides of the others stay,
/// counted anew.
Tensor native::view_dtype(const Tensor& self, ScalarType dtype) {
  const ScalarType from = self.scalar_type();
  TENON_CHECK(from == dtype || !self.is_conj(),
              "tenon.Tensor.view is not supported for conjugate view tensors when converting to a "
              "different dtype.");
  TENON_CHECK(
      from == dtype || !self.is_neg(),
      "tenon.Tensor.view is not supported for tensors with negative bit set when converting "
      "to a different dtype.");
  const auto have = static_cast<int64_t>(element_size(from)),
             want = static_cast<int64_t>(element_size(dtype));
  DimVector sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  if (have != want) {
    TENON_CHECK(self.dim() > 0, "[view] self.dim() cannot be 0 to view ", from, " as ", dtype,
                " (different element sizes)");
    const size_t last = sizes.size() - 1;
    const int64_t times = std::max(have, want) / std::min(have, want);
    const auto divisible = [&](const auto& what, int64_t n) {
      TENON_CHECK(n % times == 0, "[view] ", what, " must be divisible by ", times, " to view ",
                  from, " as ", dtype, " (different element sizes), but got ", n);
    };
    if (have < want) divisible("self.size(-1)", sizes[last]);
    TENON_CHECK(strides[last] == 1, "[view] self.stride(-1) must be 1 to view ", from, " as ",
                dtype, " (different element sizes), but got ", strides[last]);
    if (have < want) divisible("self.storage_offset()", offset);
    for (size_t d = 0; d < last; ++d) {
      if (have < want) divisible(detail::concat("self.stride(", d, ")"), strides[d]);
      strides[d] = have < want ? strides[d] / times : strides[d] * times;
    }
    sizes[last] = have < want ? sizes[last] / times : sizes[last] * times;
    offset = have < want ? offset / times : offset * times;
  }
  // No view for autograd: numbers of another dtype over the same bytes have no derivative.
  self.data_ptr();  // an error for a tensor without memory of its own
  TensorBase result = make_detached(self);
  TensorImpl& impl = *result.unsafe_impl();
  impl.dtype = dtype;
  impl.storage_offset = offset;
  impl.set_sizes_and_strides(sizes, strides);
  impl.refresh_data();
  return result;
}

/// A view that autograd treats as a tensor of its own: for callers that have just made `self`.
Tensor native::_unsafe_view(const Tensor& self, IntArrayRef size) {
  const DimVector sizes = infer_size("_unsafe_view", size, self.numel());
  const auto strides = view_strides(self.sizes(), self.strides(), sizes);
  TENON_CHECK(strides, "[_unsafe_view] sizes ", size, " need a copy of a tensor with sizes ",
              self.sizes(), " and strides ", self.strides());
  self.data_ptr();  // an error for a tensor without memory of its own
  TensorBase result = make_detached(self);
  result.unsafe_impl()->set_sizes_and_strides(sizes, *strides);
  return result;
}

Tensor native::reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_size("reshape", shape, self.numel());
  if (self.is_contiguous() || view_strides(self.sizes(), self.strides(), sizes)) {
    return ops::view::call(self, sizes);
  }
  return ops::_unsafe_view::call(ops::clone::call(self, MemoryFormat::Contiguous), sizes);
}

}  // namespace tenon
