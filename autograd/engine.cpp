#include "autograd/engine.h"

#include <algorithm>
#include <bit>

#include "aten/core/thread_state.h"
#include "autograd/accumulate_grad.h"
#include "tenon/ops/add.h"
#include "tenon/ops/sum_to_size.h"
#include "tenon/ops/to.h"

namespace tenon::autograd {
namespace {

struct Capture {
  uint32_t input_nr;
  size_t position;
};

/// A node within one run.
struct NodeState {
  Node* node;
  uint32_t pending = 0;  ///< gradients still to come
  bool wanted = true;
  variable_list grads;
  std::vector<Capture> captures;
};

/// The states of a run, found by node: open addressing, never more than half full.
class StateTable {
 public:
  StateTable() : slots_(64, kEmpty) {}

  NodeState& at(Node* node, bool& fresh) {
    if ((states_.size() + 1) * 2 > slots_.size()) grow();
    size_t slot = hash(node);
    while (slots_[slot] != kEmpty) {
      if (states_[slots_[slot]].node == node) {
        fresh = false;
        return states_[slots_[slot]];
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = static_cast<uint32_t>(states_.size());
    states_.push_back({.node = node, .grads = {}, .captures = {}});
    fresh = true;
    return states_.back();
  }
  NodeState& operator[](Node* node) {
    bool fresh;
    return at(node, fresh);
  }
  const NodeState* find(const Node* node) const {
    size_t slot = hash(node);
    while (slots_[slot] != kEmpty) {
      if (states_[slots_[slot]].node == node) return &states_[slots_[slot]];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return nullptr;
  }
  std::vector<NodeState>& all() { return states_; }

 private:
  static constexpr uint32_t kEmpty = ~0u;

  size_t hash(const Node* node) const {
    // Nodes are 64-byte aligned; a multiplication spreads what remains.
    const uint64_t key = reinterpret_cast<uintptr_t>(node) >> 6;
    return (key * 0x9e3779b97f4a7c15ull >> 32) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kEmpty);
    for (size_t i = 0; i < states_.size(); ++i) {
      size_t slot = hash(states_[i].node);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<uint32_t>(i);
    }
  }

  std::vector<NodeState> states_;
  std::vector<uint32_t> slots_;
};

struct Task {
  StateTable table;
  const BackwardOptions& options;
  std::vector<Tensor> captured;
  bool pruned = false;  ///< only some of the nodes are wanted
};

thread_local Task* current_task = nullptr;

struct CurrentTask {
  explicit CurrentTask(Task& task) : previous(current_task) { current_task = &task; }
  ~CurrentTask() { current_task = previous; }
  Task* previous;
};

/// Adds a gradient to those that have arrived; never changes memory that someone else can see.
void add_to(Tensor& sum, Tensor&& grad) {
  if (!sum.defined()) {
    sum = std::move(grad);
    return;
  }
  const bool sole = !GradMode::is_enabled() && sum.use_count() == 1 && !sum.is_view() &&
                    sum.storage().use_count() == 2 && sum.sizes() == grad.sizes() &&
                    sum.scalar_type() == grad.scalar_type() && sum.is_non_overlapping_and_dense();
  if (sole) {
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
void conform(Tensor& grad, const InputMetadata& wanted, const Node& from, size_t index) {
  if (TENON_UNLIKELY(grad.sizes() != IntArrayRef(wanted.sizes))) {
    TENON_CHECK(expandable_to(wanted.sizes, grad.sizes()), "Function ", from.name(),
                " returned an invalid gradient at index ", index, " - got ", grad.sizes(),
                " but expected shape compatible with ", wanted.sizes);
    grad = grad.sum_to_size(wanted.sizes);
  }
  if (TENON_UNLIKELY(grad.scalar_type() != wanted.dtype)) {
    grad = grad.to(wanted.dtype);  // of a complex gradient for a real input the real part stays
  }
  TENON_CHECK(grad.device().type() == wanted.device.type(), "Function ", from.name(),
              " returned an invalid gradient at index ", index, " - expected device ", wanted.device,
              " but got ", grad.device());
}

void run_tensor_hooks(NodeHooks& hooks, variable_list& grads) {
  for (size_t i = 0; i < hooks.tensor_hooks.size(); ++i) {
    const auto entry = hooks.tensor_hooks[i];  // a hook may remove itself
    if (!entry.hook || !grads[entry.output_nr].defined()) continue;
    Tensor replaced = entry.hook(grads[entry.output_nr]);
    if (replaced.defined()) grads[entry.output_nr] = std::move(replaced);
  }
}

void retain_grads(NodeHooks& hooks, const variable_list& grads) {
  for (const auto& entry : hooks.retained) {
    const Tensor& grad = grads[entry.output_nr];
    if (!grad.defined()) continue;
    AutogradMeta& meta = meta_of(*entry.tensor);
    if (!meta.grad.defined()) {
      meta.grad = GradMode::is_enabled() ? grad.clone() : grad.detach();
    } else {
      meta.grad = meta.grad + grad;
    }
  }
}

/// Counts for every reachable node how many gradients it will get.
void count_dependencies(Task& task, const std::vector<Edge>& roots) {
  std::vector<Node*> stack;
  for (const Edge& root : roots) {
    bool fresh;
    task.table.at(root.function.get(), fresh).pending++;
    if (fresh) stack.push_back(root.function.get());
  }
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (!edge.is_valid()) continue;
      bool fresh;
      task.table.at(edge.function.get(), fresh).pending++;
      if (fresh) stack.push_back(edge.function.get());
    }
  }
}

/// Marks the nodes from which a captured gradient or chosen leaf can be reached.
void prune(Task& task) {
  task.pruned = true;
  std::vector<NodeState>& states = task.table.all();
  for (NodeState& state : states) state.wanted = false;
  // Children run later than their parents' forward, so ascending order sees an edge's end first,
  // accumulators before everything.
  std::vector<uint32_t> order(states.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](uint32_t i) {
    return states[i].node->is_accumulator() ? 0 : states[i].node->sequence_nr() + 1;
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  for (const Edge& edge : task.options.only) {
    if (task.table.find(edge.function.get())) task.table[edge.function.get()].wanted = true;
  }
  for (uint32_t i : order) {
    for (const Edge& edge : states[i].node->next_edges()) {
      if (!edge.is_valid() || states[i].wanted) continue;
      const NodeState& next = task.table[edge.function.get()];
      states[i].wanted = next.wanted || !next.captures.empty();
    }
  }
}

struct Later {
  static uint64_t rank(const Node* n) { return n->sequence_nr(); }
  bool operator()(const Node* a, const Node* b) const { return rank(a) < rank(b); }
};

class Runner {
 public:
  explicit Runner(Task& task) : task_(task) {}

  void deliver(const Edge& edge, Tensor&& grad) {
    NodeState& state = task_.table[edge.function.get()];
    if (state.grads.empty()) state.grads.resize(std::max<size_t>(edge.function->num_inputs(), edge.input_nr + 1));
    if (grad.defined()) add_to(state.grads[edge.input_nr], std::move(grad));
    if (--state.pending == 0) {
      ready_.push_back(edge.function);
      std::push_heap(ready_.begin(), ready_.end(), [](const auto& a, const auto& b) { return Later()(a.get(), b.get()); });
    }
  }

  void run() {
    while (!ready_.empty()) {
      if (ready_.size() > 1) {
        std::pop_heap(ready_.begin(), ready_.end(), [](const auto& a, const auto& b) { return Later()(a.get(), b.get()); });
      }
      const IntrusivePtr<Node> node = std::move(ready_.back());
      ready_.pop_back();
      run_node(*node);
    }
  }

 private:
  void run_node(Node& node) {
    NodeState& state = task_.table[&node];
    variable_list grads = std::move(state.grads);
    const bool wanted = state.wanted;
    NodeHooks* hooks = node.hooks_or_null();
    if (TENON_UNLIKELY(hooks)) run_tensor_hooks(*hooks, grads);
    for (const Capture& capture : state.captures) {
      if (grads[capture.input_nr].defined()) task_.captured[capture.position] = grads[capture.input_nr];
    }
    if (!wanted) {
      pass_nothing(node);
      return;
    }
    if (TENON_UNLIKELY(hooks)) {
      retain_grads(*hooks, grads);
      for (size_t i = 0; i < hooks->pre_hooks.size(); ++i) grads = hooks->pre_hooks[i](grads);
    }
    const bool post = hooks && !hooks->post_hooks.empty();
    const variable_list outputs_of_forward = post ? grads : variable_list();
    variable_list results = node.apply(std::move(grads));
    if (!task_.options.keep_graph) node.release_variables();
    if (TENON_UNLIKELY(post)) {
      for (size_t i = 0; i < hooks->post_hooks.size(); ++i) {
        results = hooks->post_hooks[i](results, outputs_of_forward);
      }
    }
    const Node::Edges& edges = node.next_edges();
    TENON_CHECK(results.size() >= edges.size(), "function ", node.name(),
                " returned an incorrect number of gradients (expected ", edges.size(), ", got ",
                results.size(), ")");
    for (size_t i = 0; i < edges.size(); ++i) {
      if (!edges[i].is_valid()) continue;
      if (results[i].defined() && edges[i].input_nr < edges[i].function->num_inputs()) {
        conform(results[i], edges[i].function->input_metadata(edges[i].input_nr), node, i);
      }
      deliver(edges[i], std::move(results[i]));
    }
  }

  /// What an unwanted node would have passed on does not come; those after it must not wait for it.
  void pass_nothing(Node& node) {
    for (const Edge& edge : node.next_edges()) {
      if (edge.is_valid()) deliver(edge, Tensor());
    }
  }

  Task& task_;
  std::vector<IntrusivePtr<Node>> ready_;
};

}  // namespace

bool wanted_by_current_task(const Node& node) {
  if (!current_task || !current_task->pruned) return true;
  const NodeState* state = current_task->table.find(&node);
  return !state || state->wanted || !state->captures.empty();
}

std::vector<Tensor> run_backward(const std::vector<Edge>& roots, const std::vector<Tensor>& root_grads,
                                 const BackwardOptions& options) {
  Task task{.table = {}, .options = options, .captured = {}};
  AutoGradMode mode(options.create_graph);
  count_dependencies(task, roots);
  task.captured.resize(options.capture.size());
  for (size_t i = 0; i < options.capture.size(); ++i) {
    const Edge& edge = options.capture[i];
    if (!edge.is_valid() || !task.table.find(edge.function.get())) continue;
    task.table[edge.function.get()].captures.push_back({edge.input_nr, i});
  }
  if (!options.capture.empty() || !options.only.empty()) prune(task);

  CurrentTask scope(task);
  Runner runner(task);
  for (size_t i = 0; i < roots.size(); ++i) runner.deliver(roots[i], Tensor(root_grads[i]));
  runner.run();
  return std::move(task.captured);
}

}  // namespace tenon::autograd
