#pragma once

#include "autograd/meta.h"
#include "autograd/saved/saved_tensor_hooks.h"

namespace tenon::autograd {

/// A tensor kept for backward. An input is kept as it is; an operator's own result is kept without
/// its history, which would be a cycle, and gets it back when unpacked. Where saved-tensor hooks
/// are in force, what their pack() made of the tensor is kept instead. Errors on unpacking: the
/// graph has been freed; the tensor has been changed in place, or detached in place, since.
class TENON_API SavedVariable {
 public:
  SavedVariable() = default;
  /// An input of the operation.
  explicit SavedVariable(const Tensor& tensor) {
    if (!tensor.defined()) return;
    was_defined_ = true;
    if (TENON_UNLIKELY(saved_tensor_hooks != nullptr)) {
      save_packed(tensor);
    } else {
      keep_input(tensor);
    }
  }
  /// A result of `node`.
  SavedVariable(const Tensor& tensor, const Node& node) {
    if (!tensor.defined()) return;
    was_defined_ = true;
    save_result(tensor, node);
  }
  /// An input of an operation that is about to change `written` in place. Where that changes the
  /// input too, unpacking can only fail, and what would be a cycle of references is not made.
  static SavedVariable before_change_of(const Tensor& written, const Tensor& tensor);

  SavedVariable(SavedVariable&& other) noexcept { take(other); }
  SavedVariable& operator=(SavedVariable&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~SavedVariable() { reset(); }

  /// The tensor; `saved_for` is the node it was saved by.
  Tensor unpack(const Node& saved_for) const;
  /// Packs what is saved by hooks of its own. Error if it has hooks already, or has been freed.
  void register_hooks(SavedTensorHooks hooks, const Node& saved_for);
  /// Frees the tensor: the caller holds the node's lock.
  void reset() {
    if (!held_) return;
    if (TENON_LIKELY(!is_packed_)) {
      IntrusivePtr<TensorImpl>::adopt(static_cast<TensorImpl*>(held_));
    } else {
      reset_packed();
    }
    held_ = nullptr;
  }
  /// The bytes of the tensor that is kept; 0 if there is none, or hooks keep it.
  size_t nbytes() const;
  /// "Float[2, 3] version 0", "kept by hooks", "freed" or "none": for pictures.
  std::string summary() const;
  bool was_defined() const { return was_defined_; }

 private:
  void keep_input(const Tensor& tensor) {
    const TensorImpl& impl = *tensor.unsafe_impl();
    if (TENON_UNLIKELY(impl.is_inference)) refuse_inference_tensor();
    version_ = impl.version();
    had_grad_fn_ = has_grad_fn(impl);
    held_ = IntrusivePtr<TensorImpl>::share(tensor.unsafe_impl()).detach();
  }
  void take(SavedVariable& other) noexcept {
    held_ = std::exchange(other.held_, nullptr);
    version_ = other.version_;
    output_nr_ = other.output_nr_;
    was_defined_ = other.was_defined_;
    had_grad_fn_ = other.had_grad_fn_;
    is_own_result_ = other.is_own_result_;
    is_written_view_ = other.is_written_view_;
    is_packed_ = other.is_packed_;
  }
  [[noreturn]] static TENON_COLD void refuse_inference_tensor();
  void save_packed(const Tensor& tensor);
  void save_result(const Tensor& tensor, const Node& node);
  void reset_packed() noexcept;
  Tensor unpack_packed(const Node& saved_for, IntrusivePtr<PackedTensor> packed) const;
  Tensor attached(const Tensor& data, const Node& saved_for) const;
  [[noreturn]] void was_modified(const Tensor& data, const Node& saved_for) const;

  void* held_ = nullptr;  // a TensorImpl, or a PackedTensor if is_packed_
  uint32_t version_ = 0;
  uint16_t output_nr_ = 0;
  bool was_defined_ : 1 = false;
  bool had_grad_fn_ : 1 = false;
  bool is_own_result_ : 1 = false;
  bool is_written_view_ : 1 = false;  // the result is a view that the operator has changed in place
  bool is_packed_ : 1 = false;
};

}  // namespace tenon::autograd
