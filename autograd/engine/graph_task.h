#pragma once

#include <unordered_map>

#include "autograd/engine/engine.h"

namespace tenon::autograd {

/// A node's part in one backward pass.
struct NodeTask {
  /// Result `position` of the pass is the gradient of the node's input `input_nr`.
  struct Capture {
    uint32_t input_nr;
    size_t position;
  };

  explicit NodeTask(Node* n) : node(n) {}
  /// Whether a gradient that arrives here is used: by the node, or as a result of the pass.
  bool takes_grads() const { return needed || !captures.empty(); }

  Node* node;
  uint32_t dependencies = 0;   ///< gradients that have not arrived yet
  uint32_t next_child = 0;     ///< edge that the search for needed nodes follows next
  bool needed = true;          ///< whether the node is to run
  bool claims_node = false;    ///< whether the node points back to this
  bool executed = false;       ///< whether the node has run, or is running
  variable_list input_buffer;  ///< the sum of the gradients of each input; empty until one arrives
  std::vector<Capture> captures;
};

/// The data of one backward pass: a NodeTask for each node that takes part.
class GraphTask {
 public:
  explicit GraphTask(const BackwardOptions& options) : options_(options), id_(next_id()) {}
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;
  ~GraphTask();

  /// Null if the node takes no part.
  NodeTask* find(const Node& node) const {
    if (TENON_LIKELY(node.claimed_by_.load(std::memory_order_acquire) == this)) return node.task_;
    if (TENON_LIKELY(shared_.empty())) return nullptr;
    const auto found = shared_.find(&node);
    return found == shared_.end() ? nullptr : found->second;
  }
  /// The same for a node that may have been deleted. Looks at every NodeTask.
  const NodeTask* find_address(const Node* node) const;
  /// Makes the node take part; `is_new` is set to false if it did already.
  NodeTask& find_or_add(Node& node, bool& is_new);
  /// Calls f(NodeTask&) for each, in no particular order.
  template <class F>
  void for_each(F&& f) const {
    for (Chunk* chunk = chunks_; chunk; chunk = chunk->next) {
      for (size_t i = 0; i < chunk->count; ++i) f(chunk->tasks()[i]);
    }
  }
  /// The node runs now, and other passes may claim it.
  static void set_executed(NodeTask& task) {
    task.executed = true;
    if (!task.claims_node) return;
    task.claims_node = false;
    task.node->claimed_by_.store(nullptr, std::memory_order_release);
  }

  const BackwardOptions& options() const { return options_; }
  bool pruned() const { return options_.targets.has_value(); }
  int64_t id() const { return id_; }
  void queue_callback(std::function<void()> f) { callbacks_.push_back(std::move(f)); }
  /// Callbacks may queue others.
  void run_callbacks();
  /// The gradients of the targets, if the options ask for them.
  std::vector<Tensor>& captured() { return captured_; }

 private:
  /// NodeTasks are allocated in chunks of a size that the small allocator serves.
  struct Chunk {
    static constexpr size_t kTasks = (memory::kMaxSmall - 2 * sizeof(void*)) / sizeof(NodeTask);

    Chunk* next = nullptr;
    size_t count = 0;
    alignas(NodeTask) unsigned char storage[kTasks * sizeof(NodeTask)];

    NodeTask* tasks() { return reinterpret_cast<NodeTask*>(storage); }
  };

  static int64_t next_id();
  NodeTask& allocate(Node& node);

  const BackwardOptions& options_;
  std::vector<Tensor> captured_;
  const int64_t id_;
  std::vector<std::function<void()>> callbacks_;
  Chunk* chunks_ = nullptr;
  // Nodes that another pass, of this or another thread, had claimed first.
  std::unordered_map<const Node*, NodeTask*> shared_;
};

}  // namespace tenon::autograd
