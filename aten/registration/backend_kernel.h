#pragma once

#include "aten/meta/structured.h"
#include "tenon/tensor.h"

/// What generated thunks of a backend's kernels share.
namespace tenon::backend {

/// A meta tensor of the same sizes, strides and dtype, for the rule of the result.
inline Tensor on_meta(const Tensor& t) {
  if (!t.defined()) return t;
  Tensor meta(empty_strided(t.sizes(), t.strides(), t.scalar_type(), kMeta));
  meta.unsafe_impl()->is_wrapped_number = t.is_wrapped_number();
  return meta;
}
inline std::optional<Tensor> on_meta(const std::optional<Tensor>& t) {
  return t ? std::optional<Tensor>(on_meta(*t)) : std::nullopt;
}
inline std::vector<Tensor> on_meta(TensorList list) {
  std::vector<Tensor> meta;
  for (const Tensor& t : list) meta.push_back(on_meta(t));
  return meta;
}

/// The tensors that a call reads.
class Inputs {
 public:
  void add(const Tensor& t) {
    if (t.defined()) list_.push_back(&t);
  }
  void add(const std::optional<Tensor>& t) {
    if (t) add(*t);
  }
  void add(TensorList list) {
    for (const Tensor& t : list) add(t);
  }
  ArrayRef<const TensorBase*> list() const { return list_; }
  /// What `meta` is, on the device of the inputs. Error for tensors on several devices, 0-dim ones
  /// of the CPU excepted.
  TENON_API TensorSpec spec(const Tensor& meta) const;

 private:
  std::vector<const TensorBase*> list_;
};

}  // namespace tenon::backend
