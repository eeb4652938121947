#pragma once

#include "tenon/tensor.h"

namespace tenon::native {

/// Gives `self` the sizes, strides and offset of `view`, a view of it: what transpose_ and its like
/// do. A view whose gradient is recorded stays as it is, because its history says what part of its
/// base it shows.
inline Tensor& show_as(const char* op, Tensor& self, const Tensor& view) {
  TENON_CHECK_NOT_IMPLEMENTED(!self.unsafe_impl()->base || !self.requires_grad(), "[", op,
                              "] is not implemented for a view that requires grad, got sizes ",
                              self.sizes());
  TensorImpl& impl = *self.unsafe_impl();
  impl.storage_offset = view.storage_offset();
  impl.set_sizes_and_strides(view.sizes(), view.strides());
  impl.refresh_data();
  return self;
}

}  // namespace tenon::native
