#pragma once

#include "autograd/meta.h"

namespace tenon::autograd {

/// A tensor kept for backward. An input is kept as it is; an operator's own result is kept without
/// its history, which would be a cycle, and gets it back when unpacked. Errors on unpacking: the
/// graph has been freed; the tensor has been changed in place, or detached in place, since.
class TENON_API SavedVariable {
 public:
  SavedVariable() = default;
  SavedVariable(const Tensor& tensor, bool is_own_result) {
    const TensorImpl* impl = tensor.unsafe_impl();
    if (!impl) return;
    was_defined_ = true;
    if (TENON_UNLIKELY(is_own_result)) {
      save_result(tensor);
      return;
    }
    version_ = impl->version();
    had_grad_fn_ = impl->autograd_meta && impl->autograd_meta->grad_fn;
    data_ = tensor;
  }

  /// The tensor; `saved_for` is the node it was saved by.
  Tensor unpack(const Node& saved_for) const;
  /// Frees the tensor: the caller holds the node's lock.
  void reset() { data_.reset(); }

 private:
  void save_result(const Tensor& tensor);
  [[noreturn]] void was_modified(const Tensor& data, const Node& saved_for) const;

  Tensor data_;
  uint32_t version_ = 0;
  uint16_t output_nr_ = 0;
  bool was_defined_ : 1 = false;
  bool had_grad_fn_ : 1 = false;
  bool is_own_result_ : 1 = false;
  bool is_written_view_ : 1 = false;  // the result is a view that the operator has changed in place
};

}  // namespace tenon::autograd
