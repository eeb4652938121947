#pragma once

#include <unordered_map>

#include "autograd/engine/engine.h"

namespace tenon::autograd {

/// A backward pass's notes about one node.
struct NodeState {
  struct Capture {
    uint32_t input_nr;
    size_t position;  // among the pass's results
  };

  explicit NodeState(Node* n) : node(n) {}

  Node* node;
  uint32_t pending = 0;     ///< gradients still to come
  uint32_t next_child = 0;  ///< of the walk that finds what is wanted
  bool wanted = true;
  bool claims_node = false;
  bool done = false;
  variable_list grads;  ///< the sums of those that have come
  std::vector<Capture> captures;
};

/// One backward pass: which nodes take part, what they wait for, what has been asked for.
class Task {
 public:
  explicit Task(const BackwardOptions& options) : options_(options), id_(next_id()) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task();

  /// Finds the nodes that `roots` lead to, and those of them that lead to the targets.
  void prepare(const std::vector<Edge>& roots);
  /// The notes about a node, null if it takes no part.
  NodeState* find(const Node& node) const {
    if (TENON_LIKELY(node.claimed_by_.load(std::memory_order_acquire) == this)) return node.state_;
    if (TENON_LIKELY(shared_.empty())) return nullptr;
    const auto found = shared_.find(&node);
    return found == shared_.end() ? nullptr : found->second;
  }
  /// Whether the node is still to get a gradient. It may have been deleted.
  bool leads_to(const Node* node) const;
  /// Lets other passes have the node.
  static void give_up(NodeState& state) {
    state.done = true;
    if (!state.claims_node) return;
    state.claims_node = false;
    state.node->claimed_by_.store(nullptr, std::memory_order_release);
  }

  const BackwardOptions& options() const { return options_; }
  bool pruned() const { return options_.targets.has_value(); }
  int64_t id() const { return id_; }
  void queue_callback(std::function<void()> f) { callbacks_.push_back(std::move(f)); }
  /// Callbacks may queue others.
  void run_callbacks();
  std::vector<Tensor>& captured() { return captured_; }

 private:
  struct Chunk;

  static int64_t next_id();
  NodeState& enter(Node& node, bool& fresh);
  NodeState& allocate(Node& node);
  void prune(const std::vector<Edge>& roots);

  const BackwardOptions& options_;
  std::vector<Tensor> captured_;
  const int64_t id_;
  std::vector<std::function<void()>> callbacks_;
  Chunk* chunks_ = nullptr;
  // Nodes that another pass, of this or another thread, had claimed first.
  std::unordered_map<const Node*, NodeState*> shared_;
};

}  // namespace tenon::autograd
