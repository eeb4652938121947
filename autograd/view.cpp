#include "autograd/view.h"

#include "autograd/generated_support.h"
#include "autograd/meta.h"
#include "tenon/ops/as_strided.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/new_empty_strided.h"
#include "tenon/ops/new_zeros.h"
#include "tenon/ops/zero.h"

namespace tenon::autograd {
namespace {

/// Sizes, strides and offset of a tensor within its storage.
struct Geometry {
  DimVector sizes;
  DimVector strides;
  int64_t offset;

  explicit Geometry(const TensorBase& t)
      : sizes(t.sizes()), strides(t.strides()), offset(t.storage_offset()) {}
};

Tensor base_of(const Tensor& view) { return Tensor(view.unsafe_impl()->base); }

/// Memory laid out as `g`, from its own storage's start, holding `values`; empty when values is undefined.
Tensor laid_out_as(const Geometry& g, const Tensor& values) {
  Tensor result = values.new_empty_strided(g.sizes, g.strides);
  result.copy_(values);
  return result;
}

/// Reads a view of the base: backward puts the gradient at its place among zeros.
class AsStridedBackward0 final : public Node {
 public:
  AsStridedBackward0(const Tensor& base, const Tensor& view) : base_(base), view_(view) {}
  std::string name() const override { return "AsStridedBackward0"; }
  variable_list apply(variable_list&& grads) override {
    variable_list grad_inputs(1);
    if (!grads[0].defined()) return grad_inputs;
    Tensor all = laid_out_as(base_, grads[0].new_zeros(base_.sizes));
    all.as_strided(view_.sizes, view_.strides, view_.offset - base_.offset).copy_(grads[0]);
    grad_inputs[0] = std::move(all);
    return grad_inputs;
  }

 private:
  Geometry base_;
  Geometry view_;
};

/// A change in place of a part of the base, whose own node is `inner`: the gradient of that part goes
/// through it, that of the rest straight to the base as it was before.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, IntrusivePtr<Node> inner)
      : base_(base), view_(view), inner_(std::move(inner)) {
    Edges edges;
    edges.push_back(gradient_edge(base));
    for (size_t i = 1; i < inner_->num_outputs(); ++i) edges.push_back(inner_->next_edges()[i]);
    set_next_edges(std::move(edges));
    // What the operation took from the view before now comes from the base.
    if (inner_->num_outputs() > 0) {
      Edges inner_edges = inner_->next_edges();
      inner_edges[0] = next_edges()[0];
      inner_->set_next_edges(std::move(inner_edges));
    }
  }
  std::string name() const override { return "CopySlices"; }
  void release_variables() override {
    if (inner_) inner_->release_variables();
  }
  variable_list apply(variable_list&& grads) override {
    variable_list grad_inputs(num_outputs());
    if (!grads[0].defined()) return grad_inputs;
    Tensor all = laid_out_as(base_, grads[0]);
    Tensor part = all.as_strided(view_.sizes, view_.strides, view_.offset - base_.offset);
    variable_list inner_grads;
    inner_grads.push_back(part.clone());
    variable_list results = inner_->apply(std::move(inner_grads));
    for (size_t i = 1; i < results.size() && i < grad_inputs.size(); ++i) {
      grad_inputs[i] = std::move(results[i]);
    }
    if (task_should_compute_output(0)) {
      if (!results.empty() && results[0].defined()) {
        part.copy_(results[0]);
      } else {
        part.zero_();
      }
      grad_inputs[0] = std::move(all);
    }
    return grad_inputs;
  }

 private:
  Geometry base_;
  Geometry view_;
  IntrusivePtr<Node> inner_;
};

}  // namespace

void regenerate_view_history(const Tensor& view) {
  TensorImpl& impl = *view.unsafe_impl();
  impl.history_version = impl.version();
  const Tensor base = base_of(view);
  if (!is_differentiable(impl.dtype)) return;
  Edge edge = gradient_edge(base);
  if (!edge.is_valid()) return;
  auto node = make_node<AsStridedBackward0>(base, view);
  node->add_next_edge(std::move(edge));
  set_history(view, std::move(node));
}

void rebase_view_history(const Tensor& view, IntrusivePtr<Node> node) {
  const Tensor base = base_of(view);
  node->add_input_metadata(view);
  auto copy = make_node<CopySlices>(base, view, std::move(node));
  set_history(base, std::move(copy));
  regenerate_view_history(view);
}

}  // namespace tenon::autograd
