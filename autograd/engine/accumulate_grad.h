#pragma once

#include <mutex>

#include "autograd/meta.h"

namespace tenon::autograd {

/// The end of the graph at a leaf: adds what arrives to the leaf's grad(). One per leaf. It owns
/// the leaf as long as some graph leads to it; then it falls asleep, owned by the leaf, until
/// recording wakes it again.
class AccumulateGrad final : public Node {
 public:
  /// The leaf's accumulator, made if it has none.
  TENON_API static IntrusivePtr<Node> of(const Tensor& leaf);

  explicit AccumulateGrad(const Tensor& leaf);
  std::string name() const override { return "AccumulateGrad"; }
  variable_list apply(variable_list&& grads) override;
  const Tensor& variable() const { return variable_; }
  /// The leaf has other sizes, another dtype, device or grad_dtype() from here on.
  void leaf_has_changed(const Tensor& leaf);
  /// Unless somebody has just taken a reference: lets the leaf go and falls asleep.
  void retire() noexcept;

 private:
  bool asleep() const { return !variable_.defined(); }
  void wake(const Tensor& leaf);
  void accumulate(Tensor&& grad);
  void take_grad_dtype_of(const Tensor& leaf);

  Tensor variable_;
  std::mutex mutex_;  // held while grad() is added to
};

}  // namespace tenon::autograd
