// The backward pass, in the order in which it runs: this file reads from top to bottom.
//
//   run_backward(roots, root_grads, options)
//        |
//        |   collect_dependencies   count, for each node, the edges that lead to it
//        |   mark_needed            with targets: find the nodes that lead to one of them
//        v
//      hand_on  <-- root_grads
//        |                 +------------------------------------------------------+
//        v                 v                                                      |
//     ReadyQueue: nodes all of whose gradients have arrived; next is the          |
//        |        accumulator of a leaf, otherwise the node recorded last         |
//        |                                                                        |
//        |--> evaluate(node)        capture, hooks on tensors, then call_function |
//        |      |    call_function: pre-hooks, Node::apply, free what was saved,  |
//        |      |                   post-hooks                                    |
//        |      v  one gradient for each next edge                                |
//        |    hand_on               check sizes, dtype, device; add it to the     |
//        |                          next node's input buffer; --dependencies      |
//        |                                                        | == 0          |
//        | the queue is empty                                     +---------------+
//        v
//   finish: the caller's streams wait for those of the pass; callbacks run;
//           the captured gradients are returned
#include "autograd/engine/engine.h"

#include <algorithm>
#include <optional>

#include "aten/core/thread_state.h"
#include "autograd/engine/accumulate_grad.h"
#include "autograd/engine/fresh_stack.h"
#include "autograd/engine/graph_task.h"
#include "autograd/engine/node_observer.h"
#include "autograd/engine/owned_alone.h"
#include "autograd/engine/streams.h"
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

constinit thread_local GraphTask* current_task __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local int reentrant_depth __attribute__((tls_model("initial-exec"))) = 0;

/// Makes a pass the one that runs on this thread, until the end of the scope.
class CurrentGraphTask {
 public:
  explicit CurrentGraphTask(GraphTask& task)
      : outer_(std::exchange(current_task, &task)),
        outer_is_pruned_(std::exchange(current_task_is_pruned, task.pruned())) {
    ++reentrant_depth;
  }
  ~CurrentGraphTask() {
    current_task = outer_;
    current_task_is_pruned = outer_is_pruned_;
    --reentrant_depth;
  }
  CurrentGraphTask(const CurrentGraphTask&) = delete;
  CurrentGraphTask& operator=(const CurrentGraphTask&) = delete;

 private:
  GraphTask* outer_;
  bool outer_is_pruned_;
};

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

/// Nodes that are ready to run, in descending order of their sequence numbers.
class ReadyQueue {
 public:
  void push(NodeTask* task) {
    if (!next_) {
      next_ = task;
      return;
    }
    if (runs_later(next_, task)) std::swap(next_, task);
    heap_.push_back(task);
    std::push_heap(heap_.begin(), heap_.end(), runs_later);
  }
  /// Null if the queue is empty.
  NodeTask* pop() {
    if (TENON_LIKELY(heap_.empty())) return std::exchange(next_, nullptr);
    std::pop_heap(heap_.begin(), heap_.end(), runs_later);
    NodeTask* const task = std::exchange(next_, heap_.back());
    heap_.pop_back();
    return task;
  }

 private:
  static bool runs_later(const NodeTask* a, const NodeTask* b) {
    return a->node->sequence_nr() < b->node->sequence_nr();
  }

  // Apart from the heap, which so stays empty along a chain of nodes.
  NodeTask* next_ = nullptr;
  SmallVector<NodeTask*, 16> heap_;
};

/// One run of run_backward().
class BackwardPass {
 public:
  explicit BackwardPass(const BackwardOptions& options)
      : task_(options), keep_graph_(options.keep_graph) {}

  std::vector<Tensor> run(const std::vector<Edge>& roots, const std::vector<Tensor>& root_grads) {
    collect_dependencies(roots);
    if (task_.pruned()) mark_needed(roots, *task_.options().targets);
    const CurrentGraphTask scope(task_);
    {
      const AutoGradMode mode(task_.options().create_graph);
      for (size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].is_valid()) hand_on(Tensor(root_grads[i]), roots[i], nullptr, i);
      }
      while (NodeTask* const next = ready_queue_.pop()) {
        std::optional<OnStreamOf> on_its_stream;
        if (TENON_UNLIKELY(has_device_streams())) on_its_stream.emplace(*next->node);
        evaluate(*next);
      }
      streams_.join(task_.captured());
    }
    task_.run_callbacks();
    return std::move(task_.captured());
  }

 private:
  // ---- Before: who takes part ----

  /// Gives every node that `roots` lead to a NodeTask, with the number of gradients it waits for.
  void collect_dependencies(const std::vector<Edge>& roots) {
    SmallVector<Node*, 16> stack;
    const auto count = [&](const Edge& edge) {
      if (!edge.is_valid()) return;
      bool is_new;
      ++task_.find_or_add(*edge.function, is_new).dependencies;
      if (is_new) stack.push_back(edge.function.get());
    };
    for (const Edge& root : roots) count(root);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->next_edges()) count(edge);
    }
  }

  /// Leaves `needed` true only for nodes that lead to a target. A target whose gradient is captured
  /// does not run itself, unless another target lies behind it.
  void mark_needed(const std::vector<Edge>& roots, const std::vector<Edge>& targets) {
    task_.for_each([](NodeTask& task) { task.needed = false; });
    const bool capture = task_.options().capture;
    if (capture) task_.captured().resize(targets.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      NodeTask* task = find(targets[i]);
      if (!task) continue;
      if (capture) {
        task->captures.push_back({targets[i].input_nr, i});
      } else {
        task->needed = true;
      }
    }
    // Depth first: when the search leaves a node, all nodes behind it have been decided.
    std::vector<NodeTask*> path;
    const auto visit = [&](const Edge& edge) {
      NodeTask* task = find(edge);
      if (task && task->next_child == 0) path.push_back(task);
    };
    for (const Edge& root : roots) {
      visit(root);
      while (!path.empty()) {
        NodeTask& task = *path.back();
        const Node::Edges& edges = task.node->next_edges();
        if (task.next_child < edges.size()) {
          visit(edges[task.next_child++]);
          continue;
        }
        task.next_child = ~0u;
        path.pop_back();
        for (const Edge& edge : edges) {
          const NodeTask* next = find(edge);
          if (next && next->takes_grads()) task.needed = true;
        }
      }
    }
  }

  NodeTask* find(const Edge& edge) const {
    return edge.is_valid() ? task_.find(*edge.function) : nullptr;
  }

  // ---- A node: from the gradients of its results to those of its inputs ----

  void evaluate(NodeTask& task) {
    Node& node = *task.node;
    variable_list grads = std::move(task.input_buffer);
    if (TENON_UNLIKELY(grads.empty())) grads.resize(std::max<size_t>(node.num_inputs(), 1));
    // A captured gradient has been through the tensor's hooks, unless the node goes on to run.
    if (TENON_UNLIKELY(task.needed && !task.captures.empty())) capture(task, grads);
    if (TENON_UNLIKELY(node.hooks_or_null()) || node.is_accumulator())
      run_tensor_hooks(node, grads);
    if (TENON_UNLIKELY(!task.needed)) return capture(task, grads);
    GraphTask::set_executed(task);
    const NodeHooks* hooks = node.hooks_or_null();
    variable_list results = TENON_UNLIKELY(hooks) ? call_with_hooks(node, *hooks, std::move(grads))
                                                  : call_function(node, std::move(grads));
    grads.clear();  // the next node may change a gradient in place that was passed on unchanged
    const Node::Edges& edges = node.next_edges();
    TENON_CHECK(results.size() == edges.size(), "function ", node.name(),
                " returned an incorrect number of gradients (expected ", edges.size(), ", got ",
                results.size(), ")");
    for (size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].is_valid()) hand_on(std::move(results[i]), edges[i], &node, i);
    }
  }

  void capture(const NodeTask& task, const variable_list& grads) {
    for (const auto& [input_nr, position] : task.captures) {
      if (input_nr < grads.size()) task_.captured()[position] = grads[input_nr];
    }
  }

  /// Hooks that see the gradients of tensors, in PyTorch's order: register_hook(), then
  /// retain_grad().
  static void run_tensor_hooks(Node& node, variable_list& grads) {
    if (node.is_accumulator()) {
      const Tensor& leaf = static_cast<AccumulateGrad&>(node).variable();
      if (const TensorHooks* hooks = meta_of(*leaf.unsafe_impl()).hooks.get()) {
        hooks->on_grad.for_each(
            [&](const TensorHook& hook) { run_tensor_hook(node, hook, grads[0]); });
      }
    }
    if (const NodeHooks* hooks = node.hooks_or_null()) {
      hooks->on_tensors.for_each([&](const NodeHooks::OnTensor& hook) {
        run_tensor_hook(node, hook.call, grads[hook.output_nr]);
      });
      retain_grads(node, *hooks, grads);
    }
  }

  static void run_tensor_hook(const Node& node, const TensorHook& hook, Tensor& grad) {
    if (!grad.defined()) return;
    Tensor replaced = hook(grad);
    if (!replaced.defined()) return;
    TENON_CHECK(replaced.sizes() == grad.sizes() && replaced.scalar_type() == grad.scalar_type(),
                "a hook before ", node.name(), " must keep the gradient's sizes and dtype, ",
                grad.scalar_type(), grad.sizes(), ", got ", replaced.scalar_type(),
                replaced.sizes());
    grad = std::move(replaced);
  }

  static void retain_grads(const Node& node, const NodeHooks& hooks, const variable_list& grads) {
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

  variable_list call_with_hooks(Node& node, const NodeHooks& hooks, variable_list&& grads) {
    hooks.pre.for_each([&](const PreHook& hook) {
      const size_t count = grads.size();
      grads = hook(grads);
      TENON_CHECK(grads.size() == count, "a hook before ", node.name(),
                  " must return as many gradients as it gets, ", count, ", got ", grads.size());
    });
    if (hooks.post.empty()) return call_function(node, std::move(grads));
    const variable_list grad_outputs = grads;
    variable_list grad_inputs = call_function(node, std::move(grads));
    hooks.post.for_each(
        [&](const PostHook& hook) { grad_inputs = hook(grad_inputs, grad_outputs); });
    return grad_inputs;
  }

  variable_list call_function(Node& node, variable_list&& grads) {
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

  // ---- A gradient: from the node that computed it to the node that it is for ----

  /// `grad` is what `from` computed for its edge number `index`, or root gradient `index` if `from`
  /// is null. An undefined one counts as arrived.
  void hand_on(Tensor&& grad, const Edge& edge, const Node* from, size_t index) {
    Node& node = *edge.function;
    NodeTask* const found = task_.find(node);
    if (TENON_UNLIKELY(!found)) return;
    NodeTask& task = *found;
    if (TENON_UNLIKELY(!task.takes_grads())) return;  // nor does any node behind it
    if (TENON_LIKELY(grad.defined())) {
      std::optional<OnStreamOf> on_its_stream;
      if (TENON_UNLIKELY(has_device_streams())) {
        streams_.hand_over(grad, node);
        on_its_stream.emplace(node);
      }
      if (task.input_buffer.empty())
        task.input_buffer.resize(std::max<size_t>(node.num_inputs(), edge.input_nr + 1));
      if (edge.input_nr < node.num_inputs()) {
        const InputMetadata& metadata = node.input_metadata(edge.input_nr);
        if (TENON_UNLIKELY(!metadata.matches(*grad.unsafe_impl())) && metadata.defined())
          validate_grad(grad, metadata, from, index);
      }
      accumulate(task.input_buffer[edge.input_nr], std::move(grad));
    }
    if (--task.dependencies == 0) ready_queue_.push(&task);
  }

  /// Brings a gradient to the sizes, dtype and device of the tensor that it is the gradient of.
  static TENON_NOINLINE void validate_grad(Tensor& grad, const InputMetadata& metadata,
                                           const Node* from, size_t index) {
    const std::string name = from ? from->name() : "backward";
    if (grad.sizes() != metadata.sizes()) {
      TENON_CHECK(is_expandable_to(metadata.sizes(), grad.sizes()), "Function ", name,
                  " returned an invalid gradient at index ", index, " - got ", grad.sizes(),
                  " but expected shape compatible with ", metadata.sizes());
      grad = grad.sum_to_size(metadata.sizes());
    }
    // A real input takes the real part of a complex gradient.
    if (grad.scalar_type() != metadata.dtype() && !metadata.takes_any_dtype())
      grad = grad.to(metadata.dtype());
    if (grad.device().type() != metadata.device().type()) {
      TENON_CHECK(grad.dim() == 0, "Function ", name, " returned an invalid gradient at index ",
                  index, " - expected device ", metadata.device(), " but got ", grad.device());
      grad = grad.to(metadata.device(), grad.scalar_type());
    }
  }

  static bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
    if (shape.size() > desired.size()) return false;
    const size_t lead = desired.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] != desired[lead + i] && shape[i] != 1) return false;
    }
    return true;
  }

  /// Adds in place only if nobody else can see the memory of the sum.
  static void accumulate(Tensor& sum, Tensor&& grad) {
    if (TENON_LIKELY(!sum.defined())) {
      sum = std::move(grad);
    } else if (sum.sizes() == grad.sizes() && sum.scalar_type() == grad.scalar_type() &&
               !thread_state.batched_gradients && owned_alone(sum)) {
      sum.add_(grad);
    } else {
      sum = sum_of_gradients(sum, grad);
    }
  }

  GraphTask task_;
  const bool keep_graph_;
  ReadyQueue ready_queue_;
  StreamsOfPass streams_;
};

/// A reentrant pass, one that a node or a hook starts, continues on a fresh stack after so many.
constexpr int kPassesPerStack = 64;

}  // namespace

std::vector<Tensor> run_backward(const std::vector<Edge>& roots,
                                 const std::vector<Tensor>& root_grads,
                                 const BackwardOptions& options) {
  if (TENON_LIKELY(reentrant_depth % kPassesPerStack != kPassesPerStack - 1))
    return BackwardPass(options).run(roots, root_grads);
  std::vector<Tensor> captured;
  const auto run = [&] { captured = BackwardPass(options).run(roots, root_grads); };
  const auto call = call_on_fresh_stack.load(std::memory_order_acquire);
  run_on_fresh_stack(call ? std::function<void()>([&] { call(run); }) : run);
  return captured;
}

// ---- What nodes and hooks may ask about the pass that runs on this thread ----

bool Node::needed_by_task(size_t i) const {
  const NodeTask* task = current_task ? current_task->find(*next_edges_[i].function) : nullptr;
  return !task || task->takes_grads();
}

int64_t current_pass_id() { return current_task ? current_task->id() : -1; }

bool current_pass_keeps_graph() { return !current_task || current_task->options().keep_graph; }

bool will_execute(const Node* node) {
  const NodeTask* task = current_task ? current_task->find_address(node) : nullptr;
  return task && !task->executed && task->takes_grads();
}

bool will_apply(const Node& node) {
  const NodeTask* task = current_task ? current_task->find(node) : nullptr;
  return task && !task->executed && task->needed;
}

void queue_callback(std::function<void()> f) {
  TENON_CHECK(current_task, "Final callbacks can only be installed during backward pass.");
  current_task->queue_callback(std::move(f));
}

}  // namespace tenon::autograd
