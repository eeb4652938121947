#include "autograd/engine/engine.h"

#include <algorithm>
#include <optional>

#include "aten/core/thread_state.h"
#include "autograd/engine/accumulate_grad.h"
#include "autograd/engine/fresh_stack.h"
#include "autograd/engine/node_observer.h"
#include "autograd/engine/owned_alone.h"
#include "autograd/engine/streams.h"
#include "autograd/engine/task.h"
#include "autograd/tools/anomaly.h"
#include "tenon/ops/add.h"
#include "tenon/ops/sum_to_size.h"
#include "tenon/ops/to.h"

namespace tenon::autograd {

constinit std::atomic<const NodeObserver*> node_observer{nullptr};
constinit std::atomic<void (*)(const std::function<void()>&)> call_on_fresh_stack{nullptr};
constinit thread_local bool current_task_is_pruned __attribute__((tls_model("initial-exec"))) =
    false;

namespace {

constinit thread_local Task* current_task __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local int nesting __attribute__((tls_model("initial-exec"))) = 0;

/// Passes that start within a pass go on on a fresh stack after so many.
constexpr int kNestingPerStack = 64;

class CurrentTask {
 public:
  explicit CurrentTask(Task& task)
      : task_(std::exchange(current_task, &task)),
        pruned_(std::exchange(current_task_is_pruned, task.pruned())) {
    ++nesting;
  }
  ~CurrentTask() {
    current_task = task_;
    current_task_is_pruned = pruned_;
    --nesting;
  }
  CurrentTask(const CurrentTask&) = delete;
  CurrentTask& operator=(const CurrentTask&) = delete;

 private:
  Task* task_;
  bool pruned_;
};

/// Adds a gradient to those that have arrived; never changes memory that someone else can see.
void add_to(Tensor& sum, Tensor&& grad) {
  if (TENON_LIKELY(!sum.defined())) {
    sum = std::move(grad);
    return;
  }
  if (sum.sizes() == grad.sizes() && sum.scalar_type() == grad.scalar_type() && owned_alone(sum)) {
    sum.add_(grad);
  } else {
    sum = sum + grad;
  }
}

bool expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  const size_t lead = desired.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != desired[lead + i] && shape[i] != 1) return false;
  }
  return true;
}

/// Brings a gradient to the sizes and dtype of what it is the gradient of.
TENON_NOINLINE void conform(Tensor& grad, const InputMetadata& wanted, const Node* from,
                            size_t index) {
  const std::string name = from ? from->name() : "backward";
  if (grad.sizes() != wanted.sizes()) {
    TENON_CHECK(expandable_to(wanted.sizes(), grad.sizes()), "Function ", name,
                " returned an invalid gradient at index ", index, " - got ", grad.sizes(),
                " but expected shape compatible with ", wanted.sizes());
    grad = grad.sum_to_size(wanted.sizes());
  }
  // Of a complex gradient for a real input the real part stays.
  if (grad.scalar_type() != wanted.dtype() && !wanted.takes_any_dtype())
    grad = grad.to(wanted.dtype());
  if (grad.device().type() != wanted.device().type()) {
    TENON_CHECK(grad.dim() == 0, "Function ", name, " returned an invalid gradient at index ",
                index, " - expected device ", wanted.device(), " but got ", grad.device());
    grad = grad.to(wanted.device(), grad.scalar_type());
  }
}

void retain_grads(const Node& node, const NodeHooks& hooks, const variable_list& grads) {
  if (hooks.retained.empty()) return;
  std::vector<NodeHooks::Retained> retained;
  {
    const std::lock_guard lock(node.saved_lock());
    retained = hooks.retained;
  }
  for (const auto& [output_nr, grad] : retained) {
    if (grads[output_nr].defined()) grad->add(grads[output_nr]);
  }
}

/// Hooks that see gradients of tensors, in PyTorch's order: those of the tensors, then
/// retain_grad().
void run_tensor_hooks(Node& node, variable_list& grads) {
  const auto run = [&](Tensor& grad, const TensorHook& hook) {
    if (!grad.defined()) return;
    Tensor replaced = hook(grad);
    if (!replaced.defined()) return;
    TENON_CHECK(replaced.sizes() == grad.sizes() && replaced.scalar_type() == grad.scalar_type(),
                "a hook before ", node.name(), " must keep the gradient's sizes and dtype, ",
                grad.scalar_type(), grad.sizes(), ", got ", replaced.scalar_type(),
                replaced.sizes());
    grad = std::move(replaced);
  };
  if (node.is_accumulator()) {
    const Tensor& leaf = static_cast<AccumulateGrad&>(node).variable();
    if (const TensorHooks* hooks = meta_of(*leaf.unsafe_impl()).hooks.get()) {
      hooks->on_grad.for_each([&](const TensorHook& hook) { run(grads[0], hook); });
    }
  }
  if (const NodeHooks* hooks = node.hooks_or_null()) {
    hooks->on_tensors.for_each(
        [&](const NodeHooks::OnTensor& hook) { run(grads[hook.output_nr], hook.call); });
    retain_grads(node, *hooks, grads);
  }
}

/// Tells the observer, if there is one, that a node runs.
class ObservedNode {
 public:
  explicit ObservedNode(const Node& node)
      : node_(node), observer_(node_observer.load(std::memory_order_acquire)) {
    if (TENON_UNLIKELY(observer_)) observer_->before(node_);
  }
  ~ObservedNode() {
    if (TENON_UNLIKELY(observer_)) observer_->after(node_);
  }
  ObservedNode(const ObservedNode&) = delete;
  ObservedNode& operator=(const ObservedNode&) = delete;

 private:
  const Node& node_;
  const NodeObserver* const observer_;
};

/// Runs the nodes of a prepared task.
class Runner {
 public:
  explicit Runner(Task& task) : task_(task), keep_graph_(task.options().keep_graph) {}

  void deliver(const Edge& edge, Tensor&& grad, const Node* from, size_t index) {
    Node& node = *edge.function;
    NodeState* found = task_.find(node);
    if (TENON_UNLIKELY(!found)) return;
    NodeState& state = *found;
    // What is not wanted leads to nothing that is.
    if (TENON_UNLIKELY(!state.wanted && state.captures.empty())) return;
    if (TENON_LIKELY(grad.defined())) {
      std::optional<OnStreamOf> there;
      if (TENON_UNLIKELY(has_device_streams())) {
        streams_.hand_over(grad, node);
        there.emplace(node);
      }
      if (state.grads.empty())
        state.grads.resize(std::max<size_t>(node.num_inputs(), edge.input_nr + 1));
      if (edge.input_nr < node.num_inputs()) {
        const InputMetadata& wanted = node.input_metadata(edge.input_nr);
        if (TENON_UNLIKELY(!wanted.matches(*grad.unsafe_impl())) && wanted.defined()) {
          conform(grad, wanted, from, index);
        }
      }
      add_to(state.grads[edge.input_nr], std::move(grad));
    }
    if (--state.pending == 0) push(&state);
  }

  void run() {
    while (next_) {
      NodeState& state = *next_;
      pop();
      if (TENON_UNLIKELY(has_device_streams())) {
        const OnStreamOf there(*state.node);
        run_node(state);
      } else {
        run_node(state);
      }
    }
    streams_.join(task_.captured());
  }

 private:
  static bool earlier(const NodeState* a, const NodeState* b) {
    return a->node->sequence_nr() < b->node->sequence_nr();
  }
  // The next node is kept apart from the heap of the others, which stays empty along a chain.
  void push(NodeState* state) {
    if (!next_) {
      next_ = state;
      return;
    }
    if (earlier(next_, state)) std::swap(next_, state);
    heap_.push_back(state);
    std::push_heap(heap_.begin(), heap_.end(), earlier);
  }
  void pop() {
    next_ = nullptr;
    if (TENON_LIKELY(heap_.empty())) return;
    std::pop_heap(heap_.begin(), heap_.end(), earlier);
    next_ = heap_.back();
    heap_.pop_back();
  }

  void run_node(NodeState& state) {
    Node& node = *state.node;
    variable_list grads = std::move(state.grads);
    if (TENON_UNLIKELY(grads.empty())) grads.resize(std::max<size_t>(node.num_inputs(), 1));
    // What is returned for a tensor has been through its hooks, unless its node goes on to run.
    if (TENON_UNLIKELY(state.wanted && !state.captures.empty())) capture(state, grads);
    if (TENON_UNLIKELY(node.hooks_or_null()) || node.is_accumulator())
      run_tensor_hooks(node, grads);
    if (TENON_UNLIKELY(!state.wanted)) return capture(state, grads);
    Task::give_up(state);
    const NodeHooks* hooks = node.hooks_or_null();
    variable_list results = TENON_UNLIKELY(hooks) ? apply_with_hooks(node, *hooks, std::move(grads))
                                                  : apply(node, std::move(grads));
    grads.clear();  // what has been passed on unchanged is now the next node's alone
    const Node::Edges& edges = node.next_edges();
    TENON_CHECK(results.size() == edges.size(), "function ", node.name(),
                " returned an incorrect number of gradients (expected ", edges.size(), ", got ",
                results.size(), ")");
    for (size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].is_valid()) deliver(edges[i], std::move(results[i]), &node, i);
    }
  }

  void capture(const NodeState& state, const variable_list& grads) {
    for (const auto& capture : state.captures) {
      if (capture.input_nr < grads.size())
        task_.captured()[capture.position] = grads[capture.input_nr];
    }
  }

  variable_list apply(Node& node, variable_list&& grads) {
    const ObservedNode observed(node);
    variable_list results = TENON_UNLIKELY(AnomalyMode::is_enabled())
                                ? apply_in_anomaly_mode(node, std::move(grads))
                                : node.apply(std::move(grads));
    if (!keep_graph_) {
      const std::lock_guard lock(node.saved_lock());
      node.release_variables();
    }
    return results;
  }

  variable_list apply_with_hooks(Node& node, const NodeHooks& hooks, variable_list&& grads) {
    hooks.pre.for_each([&](const PreHook& hook) {
      const size_t count = grads.size();
      grads = hook(grads);
      TENON_CHECK(grads.size() == count, "a hook before ", node.name(),
                  " must return as many gradients as it gets, ", count, ", got ", grads.size());
    });
    if (hooks.post.empty()) return apply(node, std::move(grads));
    const variable_list taken = grads;
    variable_list results = apply(node, std::move(grads));
    hooks.post.for_each([&](const PostHook& hook) { results = hook(results, taken); });
    return results;
  }

  Task& task_;
  const bool keep_graph_;
  NodeState* next_ = nullptr;
  SmallVector<NodeState*, 16> heap_;
  StreamsOfPass streams_;
};

std::vector<Tensor> run_here(const std::vector<Edge>& roots, const std::vector<Tensor>& root_grads,
                             const BackwardOptions& options) {
  Task task(options);
  task.prepare(roots);
  const CurrentTask scope(task);
  {
    const AutoGradMode mode(options.create_graph);
    Runner runner(task);
    for (size_t i = 0; i < roots.size(); ++i) {
      if (roots[i].is_valid()) runner.deliver(roots[i], Tensor(root_grads[i]), nullptr, i);
    }
    runner.run();
  }
  task.run_callbacks();
  return std::move(task.captured());
}

}  // namespace

bool Node::wanted_by_task(size_t i) const {
  const NodeState* state = current_task ? current_task->find(*next_edges_[i].function) : nullptr;
  return !state || state->wanted || !state->captures.empty();
}

int64_t current_pass_id() { return current_task ? current_task->id() : -1; }

bool current_pass_keeps_graph() { return !current_task || current_task->options().keep_graph; }

bool will_execute(const Node* node) { return current_task && current_task->leads_to(node); }

bool will_apply(const Node& node) {
  const NodeState* state = current_task ? current_task->find(node) : nullptr;
  return state && !state->done && state->wanted;
}

void queue_callback(std::function<void()> f) {
  TENON_CHECK(current_task, "Final callbacks can only be installed during backward pass.");
  current_task->queue_callback(std::move(f));
}

std::vector<Tensor> run_backward(const std::vector<Edge>& roots,
                                 const std::vector<Tensor>& root_grads,
                                 const BackwardOptions& options) {
  if (TENON_LIKELY(nesting % kNestingPerStack != kNestingPerStack - 1))
    return run_here(roots, root_grads, options);
  std::vector<Tensor> captured;
  const auto run = [&] { captured = run_here(roots, root_grads, options); };
  const auto call = call_on_fresh_stack.load(std::memory_order_acquire);
  run_on_fresh_stack(call ? std::function<void()>([&] { call(run); }) : run);
  return captured;
}

}  // namespace tenon::autograd
