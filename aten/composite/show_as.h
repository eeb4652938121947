#pragma once

#include "tenon/tensor.h"

namespace tenon::native {

/// Gives `self` the sizes, strides and offset of `view`, a view of it: what transpose_ and its like
/// do.
inline Tensor& show_as(Tensor& self, const Tensor& view) {
  TensorImpl& impl = *self.unsafe_impl();
  impl.storage_offset = view.storage_offset();
  impl.set_sizes_and_strides(view.sizes(), view.strides());
  impl.refresh_data();
  return self;
}

}  // namespace tenon::native
