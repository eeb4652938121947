#pragma once

#include <mutex>

#include "autograd/meta.h"

namespace tenon::autograd {

/// The graph's end at a leaf: adds the gradients that arrive to the leaf's grad(). Each leaf has
/// one. While a graph leads to it, it owns the leaf. When the last graph is gone it falls asleep,
/// and the leaf owns it until recording wakes it again.
class AccumulateGrad final : public Node {
 public:
  /// The leaf's accumulator. It is created if there is none.
  TENON_API static IntrusivePtr<Node> of(const Tensor& leaf);

  explicit AccumulateGrad(const Tensor& leaf);
  std::string name() const override { return "AccumulateGrad"; }
  variable_list apply(variable_list&& grads) override;
  const Tensor& variable() const { return variable_; }
  /// To be called when the leaf's sizes, dtype, device or grad_dtype() have changed.
  void leaf_has_changed(const Tensor& leaf);
  /// Called when the last reference is released: gives up the leaf and falls asleep, unless another
  /// thread has just taken a reference.
  void retire() noexcept;

 private:
  bool asleep() const { return !variable_.defined(); }
  void wake(const Tensor& leaf);
  void accumulate(Tensor&& grad);
  void take_grad_dtype_of(const Tensor& leaf);

  Tensor variable_;
  std::mutex mutex_;  // held while a gradient is added to grad()
};

}  // namespace tenon::autograd
