#include "autograd/views/view_history.h"

#include <mutex>

#include "aten/core/thread_state.h"
#include "autograd/engine/owned_alone.h"
#include "autograd/generated_support/generated_support.h"
#include "autograd/messages.h"
#include "autograd/meta.h"
#include "autograd/tools/anomaly.h"
#include "tenon/ops/_conj.h"
#include "tenon/ops/_neg_view.h"
#include "tenon/ops/as_strided.h"
#include "tenon/ops/as_strided_backward.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/new_empty_strided.h"
#include "tenon/ops/resolve_conj.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"
#include "tenon/ops/zero.h"

namespace tenon::autograd {
namespace {

/// Sizes, strides and offset of a tensor within its storage, in elements of its dtype, and what its
/// elements are of those in memory.
struct Geometry {
  DimVector sizes;
  DimVector strides;
  int64_t offset;
  ScalarType dtype;
  bool is_conj;
  bool is_neg;

  explicit Geometry(const TensorBase& t)
      : sizes(t.sizes()), strides(t.strides()), offset(t.storage_offset()), dtype(t.dtype()),
        is_conj(t.is_conj()), is_neg(t.is_neg()) {}
  /// Of a tensor's elements those in memory, and of those in memory the tensor's.
  Tensor toggle(Tensor t) const {
    if (is_conj) t = _conj(t);
    return is_neg ? _neg_view(t) : std::move(t);
  }
  /// The same complex elements as pairs of real ones, [..., 2], as view_as_real() has them.
  Geometry as_real() const {
    Geometry pairs(*this);
    for (int64_t& stride : pairs.strides) stride *= 2;
    pairs.sizes.push_back(2);
    pairs.strides.push_back(1);
    pairs.offset *= 2;
    pairs.dtype = to_real(dtype);
    return pairs;
  }
};

/// A view and its base, from which the view's function follows: of one dtype it is as_strided(), of
/// a complex and a real one view_as_real() before or view_as_complex() after it (no other change
/// of dtype is a view for autograd). Three linear maps follow, each with a node whose backward is
/// made of the other two, so that they can be differentiated any number of times:
///   gather: base -> view, the elements that the view sees
///   scatter: view -> base, the elements at their places among zeros, those seen twice added up
///   replace: (base, view) -> base, with the part that the view sees replaced
/// They are computed in elements of the real dtype where the two differ, and in those of memory
/// where the base or the view has a conjugate or negative bit.
struct Part {
  Geometry base;
  Geometry view;

  /// Whether as_strided() alone gives another tensor than the view.
  bool differs() const {
    return base.dtype != view.dtype || base.is_conj != view.is_conj || base.is_neg != view.is_neg;
  }
  /// Whether the elements of base and view are those in memory.
  bool is_plain() const { return !differs() && !base.is_conj && !base.is_neg; }
  bool shows_reals() const { return view.dtype != base.dtype && is_complex(base.dtype); }
  bool shows_pairs() const { return view.dtype != base.dtype && is_complex(view.dtype); }
  Geometry base_elements() const { return shows_reals() ? base.as_real() : base; }
  Geometry view_elements() const { return shows_pairs() ? view.as_real() : view; }

  /// What has the base's dtype, or the view's, in the elements that the maps are computed in, and
  /// back: the same memory.
  Tensor from_base(const Tensor& t) const {
    return shows_reals() ? pairs(base.toggle(t)) : base.toggle(t);
  }
  Tensor from_view(const Tensor& t) const {
    return shows_pairs() ? pairs(view.toggle(t)) : view.toggle(t);
  }
  Tensor to_base(Tensor t) const {
    return base.toggle(shows_reals() ? view_as_complex(t) : std::move(t));
  }
  Tensor to_view(Tensor t) const {
    return view.toggle(shows_pairs() ? view_as_complex(t) : std::move(t));
  }
  static Tensor pairs(const Tensor& t) { return view_as_real(t.resolve_conj()); }
};

Tensor gather(const Tensor& values, const Part& part);
Tensor scatter(const Tensor& values, const Part& part);
Tensor replace(Tensor values, const Tensor& by, const Part& part);

/// A copy of `values` with the base's strides, from its own storage's start.
Tensor laid_out(const Tensor& values, const Geometry& base) {
  return values.new_empty_strided(base.sizes, base.strides).copy_(values);
}

/// Of elements that lie as the base's do, those that the view sees.
Tensor part_of(const Tensor& laid_out, const Geometry& base, const Geometry& view) {
  return laid_out.as_strided(view.sizes, view.strides,
                             laid_out.storage_offset() + view.offset - base.offset);
}

/// Node of gather, and of a view whose base was changed in place: named as if as_strided had made
/// it.
class Gather final : public Node {
 public:
  explicit Gather(Part part) : part_(std::move(part)) {}
  std::string name() const override { return "AsStridedBackward0"; }
  variable_list apply(variable_list&& grads) override {
    variable_list grad_inputs(1);
    if (grads[0].defined()) grad_inputs[0] = scatter(grads[0], part_);
    return grad_inputs;
  }

 private:
  Part part_;
};

class Scatter final : public Node {
 public:
  explicit Scatter(Part part) : part_(std::move(part)) {}
  std::string name() const override { return "AsStridedBackwardBackward0"; }
  variable_list apply(variable_list&& grads) override {
    variable_list grad_inputs(1);
    if (grads[0].defined()) grad_inputs[0] = gather(grads[0], part_);
    return grad_inputs;
  }

 private:
  Part part_;
};

class Replace final : public Node {
 public:
  explicit Replace(Part part) : part_(std::move(part)) {}
  std::string name() const override { return "ReplaceBackward"; }
  variable_list apply(variable_list&& grads) override {
    variable_list grad_inputs(2);
    if (!grads[0].defined()) return grad_inputs;
    if (task_should_compute_output(0)) grad_inputs[0] = replace(grads[0], Tensor(), part_);
    if (task_should_compute_output(1)) grad_inputs[1] = gather(grads[0], part_);
    return grad_inputs;
  }

 private:
  Part part_;
};

/// A view that was made for its memory alone: a tensor like any other.
Tensor as_result(const Tensor& view) { return view.detach(); }

/// The result of `compute`, which is not recorded itself, as that of a new NodeType.
template <class NodeType, class Compute, class... Inputs>
Tensor recorded(const Part& part, Compute&& compute, const Inputs&... inputs) {
  IntrusivePtr<Node> node;
  if (compute_requires_grad(inputs...)) {
    node = make_node<NodeType>(part);
    set_edges(*node, inputs...);
  }
  Tensor result;
  {
    const NoGradGuard no_grad;
    result = compute();
  }
  if (node) set_history(result, std::move(node));
  return result;
}

Tensor gather(const Tensor& values, const Part& part) {
  return recorded<Gather>(
      part,
      [&] {
        const Geometry base = part.base_elements();
        Tensor elements = part.from_base(values);
        if (elements.strides() != IntArrayRef(base.strides)) elements = laid_out(elements, base);
        const Tensor seen = part_of(elements, base, part.view_elements());
        if (part.is_plain()) return seen.clone();
        return as_result(part.to_view(
            seen.clone(part.shows_pairs() ? MemoryFormat::Contiguous : MemoryFormat::Preserve)));
      },
      values);
}

Tensor scatter(const Tensor& values, const Part& part) {
  return recorded<Scatter>(
      part,
      [&] {
        const Geometry base = part.base_elements(), view = part.view_elements();
        Tensor result = as_strided_backward(part.from_view(values), base.sizes, base.strides,
                                            base.offset, view.sizes, view.strides, view.offset);
        if (part.is_plain()) return result;
        return as_result(part.to_base(part.shows_reals() ? result.contiguous() : result));
      },
      values);
}

Tensor replace(Tensor values, const Tensor& by, const Part& part) {
  // Writing the rows of a matrix one by one must not copy the matrix for each.
  const bool has_bits = part.base.is_conj || part.base.is_neg;
  const bool in_place =
      !has_bits && owned_alone(values) && values.strides() == IntArrayRef(part.base.strides);
  return recorded<Replace>(
      part,
      [&] {
        // Of a base with bits the elements of memory are written, and become the base's at the end.
        Tensor result =
            in_place ? std::move(values) : laid_out(part.base.toggle(std::move(values)), part.base);
        Tensor seen = part_of(part.shows_reals() ? view_as_real(result) : result,
                              part.base_elements(), part.view_elements());
        if (by.defined()) {
          seen.copy_(part.from_view(by));
        } else {
          seen.zero_();
        }
        return has_bits ? as_result(part.base.toggle(std::move(result))) : result;
      },
      values, by);
}

class CopySlices;
constinit thread_local const CopySlices* running_copy_slices = nullptr;

/// A change in place of a part of the base, whose own node is `inner`: the gradient of that part
/// goes through it, that of the rest straight to the base as it was before.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, IntrusivePtr<Node> inner)
      : part_{Geometry(base), Geometry(view)}, inner_(std::move(inner)) {
    next_edges_.push_back(gradient_edge(base));
    for (size_t i = 1; i < inner_->num_outputs(); ++i)
      next_edges_.push_back(inner_->next_edges()[i]);
    // What the operation took from the view before now comes from the base.
    if (inner_->num_outputs() > 0) {
      Edges inner_edges = inner_->next_edges();
      inner_edges[0] = next_edges_[0];
      inner_->set_next_edges(std::move(inner_edges));
    }
  }
  std::string name() const override { return "CopySlices"; }
  const Part& part() const { return part_; }
  void release_variables() override {
    const std::lock_guard lock(inner_->saved_lock());
    inner_->release_variables();
  }
  std::vector<SavedEntry> saved() const override { return inner_->saved(); }
  variable_list apply(variable_list&& grads) override {
    variable_list grad_inputs(num_outputs());
    if (!grads[0].defined()) return grad_inputs;
    Tensor grad = std::move(grads[0]);
    variable_list results = run_inner(gather(grad, part_));
    for (size_t i = 1; i < results.size() && i < grad_inputs.size(); ++i) {
      grad_inputs[i] = std::move(results[i]);
    }
    if (task_should_compute_output(0)) {
      grad_inputs[0] = replace(std::move(grad), results.empty() ? Tensor() : results[0], part_);
    }
    return grad_inputs;
  }

 private:
  variable_list run_inner(Tensor grad) const {
    struct Running {
      const CopySlices* previous;
      ~Running() { running_copy_slices = previous; }
    } const restore{std::exchange(running_copy_slices, this)};
    variable_list grads;
    grads.push_back(std::move(grad));
    return inner_->apply(std::move(grads));
  }

  Part part_;
  IntrusivePtr<Node> inner_;
};

/// Held while the node of a view whose base was changed is read or replaced. Nothing that is done
/// under it waits for anything.
std::mutex outdated_views_mutex;

/// The view once more, from the base as it is now. Recorded whatever the thread's modes, and seen
/// by nobody who watches calls.
Tensor replay_recorded(const Tensor& base, const Tensor& view) {
  struct Restore {
    const ThreadState before = thread_state;
    ~Restore() { thread_state = before; }
  } const restore;
  thread_state.excluded_layers = kThreadLayers;
  thread_state.grad_mode = true;
  thread_state.inference_mode = false;
  thread_state.refresh();
  return replay_view(base, base, view);
}

/// A new node that reads the view from its base as it is now.
Edge edge_to_base(const Tensor& view, const Tensor& base) {
  if (Part{Geometry(base), Geometry(view)}.differs() && needs_grad(base))
    return gradient_edge(replay_recorded(base, view));
  // The base may have no history any more, and the view's then ends here.
  auto node = make_node<Gather>(Part{Geometry(base), Geometry(view)});
  if (TENON_UNLIKELY(AnomalyMode::is_enabled())) keep_calls_of(*node);
  node->add_next_edge(gradient_edge(base));
  const uint32_t number = node->add_input_metadata(view);
  return {std::move(node), number};
}

bool is_outdated_view_with(const TensorImpl& view, bool (*property)(const AutogradMeta&)) {
  const AutogradMeta* meta = view.autograd_meta;
  if (!meta) return false;
  const std::lock_guard lock(outdated_views_mutex);
  return property(*meta);
}

}  // namespace

bool outdated_view_has_grad_fn(const TensorImpl& view) {
  return is_outdated_view_with(view, [](const AutogradMeta& meta) { return !!meta.grad_fn; });
}

bool outdated_view_is_recorded(const TensorImpl& view) {
  return is_outdated_view_with(
      view, [](const AutogradMeta& meta) { return meta.grad_fn || meta.requires_grad; });
}

Tensor replay_view(const Tensor& values, const Tensor& base, const Tensor& view) {
  const Part part{Geometry(base), Geometry(view)};
  const Geometry of_base = part.base_elements(), of_view = part.view_elements();
  Tensor elements = part.from_base(values);
  const bool same = part.differs() && of_base.sizes == of_view.sizes &&
                    of_base.strides == of_view.strides && of_base.offset == of_view.offset;
  if (!same) elements = part_of(elements, of_base, of_view);
  return part.to_view(std::move(elements));
}

void check_view_may_be_written(const Tensor& view, bool indirect) {
  switch (view.unsafe_impl()->creation_meta) {
  case CreationMeta::Default: return;
  case CreationMeta::NoGrad: messages::view_of_unrecorded_mode("no_grad", indirect);
  case CreationMeta::Inference: messages::view_of_unrecorded_mode("inference", indirect);
  case CreationMeta::MultiOutput: messages::one_of_several_views(view, indirect);
  case CreationMeta::CustomFunction: messages::view_of_custom_function(view, indirect);
  }
}

void regenerate_view_history(const Tensor& view) {
  TensorImpl& impl = *view.unsafe_impl();
  if (!is_differentiable(impl.dtype)) return;
  const Tensor base(impl.base);
  // A view without history stays so while its base has none, and looks again the next time.
  if (!needs_grad(base) && !outdated_view_has_grad_fn(impl)) return;
  check_view_may_be_written(view, true);
  const Edge edge = edge_to_base(view, base);
  IntrusivePtr<Node> replaced;  // its end may wait for what holders of other locks have
  const std::lock_guard lock(outdated_views_mutex);
  AutogradMeta& meta = meta_of(impl);
  if (meta.grad_fn && has_current_history(impl)) return;  // another thread was quicker
  replaced = meta.grad_fn;
  set_grad_fn(impl, edge.function, edge.input_nr);
}

void rebase_view_history(const Tensor& view, IntrusivePtr<Node> node) {
  const Tensor base(view.unsafe_impl()->base);
  node->add_input_metadata(view);
  set_history(base, make_node<CopySlices>(base, view, std::move(node)));
  view.unsafe_impl()->history_version.store(view.unsafe_impl()->version() - 1,
                                            std::memory_order_relaxed);
  regenerate_view_history(view);
}

void attach_to_running_copy_slices(const Tensor& view) {
  const CopySlices* copy = running_copy_slices;
  TENON_ASSERT(copy, "a result written into a view is unpacked by its base's CopySlices");
  auto node = make_node<Gather>(Part{copy->part().base, Geometry(view)});
  node->add_next_edge({IntrusivePtr<Node>::share(const_cast<CopySlices*>(copy)), 0});
  const uint32_t number = node->add_input_metadata(view);
  set_grad_fn(*view.unsafe_impl(), std::move(node), number);
}

}  // namespace tenon::autograd
