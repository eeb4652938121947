#pragma once

#include "autograd/meta.h"

namespace tenon::autograd {

/// The end of the graph at a leaf: adds what arrives to the leaf's grad(). One per leaf, alive as long
/// as some graph leads to it.
class AccumulateGrad final : public Node {
 public:
  /// The leaf's accumulator, made if it has none.
  static IntrusivePtr<Node> of(const Tensor& leaf);

  explicit AccumulateGrad(const Tensor& leaf);
  std::string name() const override { return "AccumulateGrad"; }
  bool is_accumulator() const override { return true; }
  variable_list apply(variable_list&& grads) override;
  const Tensor& variable() const { return variable_; }
  /// Unless a leaf has just taken a reference: deletes the node.
  void destroy_unless_revived() noexcept;

 private:
  Tensor variable_;
};

}  // namespace tenon::autograd
