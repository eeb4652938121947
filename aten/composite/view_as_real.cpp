#include "tenon/native/view_as_real.h"

#include "tenon/native/view_as_complex.h"
#include "tenon/ops/view_as_real.h"

namespace tenon {
namespace {

/// A view of the same bytes as elements of another dtype.
Tensor view_of_dtype(const Tensor& self, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
                     int64_t offset) {
  TensorBase view = make_view(self, self.sizes(), self.strides(), self.storage_offset());
  TensorImpl& impl = *view.unsafe_impl();
  impl.dtype = dtype;
  impl.storage_offset = offset;
  impl.set_sizes_and_strides(sizes, strides);
  impl.refresh_data();
  return view;
}

}  // namespace

/// [...] of complex numbers -> [..., 2] of their real and imaginary parts.
Tensor native::view_as_real(const Tensor& self) {
  TENON_CHECK_TYPE(self.is_complex(),
                   "[view_as_real] view_as_real is only supported for complex tensors, got ",
                   self.scalar_type());
  TENON_CHECK(
      !self.is_conj(),
      "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
      "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
      "the resulting tensor will NOT alias the original.");
  DimVector sizes(self.sizes()), strides(self.strides());
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return view_of_dtype(self, to_real(self.scalar_type()), sizes, strides,
                       2 * self.storage_offset());
}

/// [..., 2] of real and imaginary parts -> [...] of complex numbers.
Tensor native::view_as_complex(const Tensor& self) {
  const ScalarType type = self.scalar_type();
  TENON_CHECK_NOT_IMPLEMENTED(type == kFloat || type == kDouble || type == kHalf,
                              "[view_as_complex] view_as_complex is only supported for half, "
                              "float and double tensors, but got a tensor of scalar type: ",
                              type);
  TENON_CHECK(self.dim() > 0,
              "[view_as_complex] Input tensor must have one or more dimensions, got a tensor "
              "without");
  TENON_CHECK(self.size(-1) == 2,
              "[view_as_complex] Tensor must have a last dimension of size 2, got sizes ",
              self.sizes());
  TENON_CHECK(self.stride(-1) == 1,
              "[view_as_complex] Tensor must have a last dimension with stride 1, got strides ",
              self.strides());
  DimVector sizes(self.sizes()), strides(self.strides());
  sizes.pop_back();
  strides.pop_back();
  for (int64_t& stride : strides) {
    TENON_CHECK(stride % 2 == 0,
                "[view_as_complex] Tensor must have a stride divisible by 2 for all but last "
                "dimension, got strides ",
                self.strides());
    stride /= 2;
  }
  TENON_CHECK(self.storage_offset() % 2 == 0,
              "[view_as_complex] Tensor must have a storage_offset divisible by 2, got ",
              self.storage_offset());
  return view_of_dtype(self, to_complex(type), sizes, strides, self.storage_offset() / 2);
}

}  // namespace tenon
