#include "autograd/engine/task.h"

namespace tenon::autograd {

/// States come in chunks that the small allocator serves.
struct Task::Chunk {
  static constexpr size_t kStates = (memory::kMaxSmall - 2 * sizeof(void*)) / sizeof(NodeState);

  Chunk* next = nullptr;
  size_t count = 0;
  alignas(NodeState) unsigned char storage[kStates * sizeof(NodeState)];

  NodeState* states() { return reinterpret_cast<NodeState*>(storage); }
};

Task::~Task() {
  while (chunks_) {
    Chunk* chunk = std::exchange(chunks_, chunks_->next);
    for (size_t i = 0; i < chunk->count; ++i) {
      give_up(chunk->states()[i]);
      chunk->states()[i].~NodeState();
    }
    memory::deallocate(chunk, sizeof(Chunk));
  }
}

int64_t Task::next_id() {
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

bool Task::leads_to(const Node* node) const {
  for (Chunk* chunk = chunks_; chunk; chunk = chunk->next) {
    for (size_t i = 0; i < chunk->count; ++i) {
      const NodeState& state = chunk->states()[i];
      if (state.node == node) return !state.done && (state.wanted || !state.captures.empty());
    }
  }
  return false;
}

void Task::run_callbacks() {
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    const auto callback = std::move(callbacks_[i]);
    callback();
  }
}

NodeState& Task::allocate(Node& node) {
  if (!chunks_ || chunks_->count == Chunk::kStates) {
    Chunk* chunk = ::new (memory::allocate(sizeof(Chunk))) Chunk;
    chunk->next = chunks_;
    chunks_ = chunk;
  }
  return *::new (chunks_->states() + chunks_->count++) NodeState(&node);
}

NodeState& Task::enter(Node& node, bool& fresh) {
  if (NodeState* known = find(node)) {
    fresh = false;
    return *known;
  }
  fresh = true;
  NodeState& state = allocate(node);
  Task* nobody = nullptr;
  if (TENON_LIKELY(
          node.claimed_by_.compare_exchange_strong(nobody, this, std::memory_order_acq_rel))) {
    node.state_ = &state;
    state.claims_node = true;
  } else {
    shared_.emplace(&node, &state);
  }
  return state;
}

void Task::prepare(const std::vector<Edge>& roots) {
  SmallVector<Node*, 16> stack;
  const auto count = [&](const Edge& edge) {
    if (!edge.is_valid()) return;
    bool fresh;
    ++enter(*edge.function, fresh).pending;
    if (fresh) stack.push_back(edge.function.get());
  };
  for (const Edge& root : roots) count(root);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next_edges()) count(edge);
  }
  if (options_.targets) prune(roots);
}

void Task::prune(const std::vector<Edge>& roots) {
  for (Chunk* chunk = chunks_; chunk; chunk = chunk->next) {
    for (size_t i = 0; i < chunk->count; ++i) chunk->states()[i].wanted = false;
  }
  const std::vector<Edge>& targets = *options_.targets;
  if (options_.capture) captured_.resize(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    NodeState* state = targets[i].is_valid() ? find(*targets[i].function) : nullptr;
    if (!state) continue;
    if (options_.capture) {
      state->captures.push_back({targets[i].input_nr, i});
    } else {
      state->wanted = true;
    }
  }
  // Depth first: when a node is left, all that it leads to has been decided.
  std::vector<NodeState*> path;
  const auto visit = [&](const Edge& edge) {
    NodeState* state = edge.is_valid() ? find(*edge.function) : nullptr;
    if (state && state->next_child == 0) path.push_back(state);
    return state;
  };
  for (const Edge& root : roots) {
    visit(root);
    while (!path.empty()) {
      NodeState& state = *path.back();
      const Node::Edges& edges = state.node->next_edges();
      if (state.next_child < edges.size()) {
        visit(edges[state.next_child++]);
        continue;
      }
      state.next_child = ~0u;
      path.pop_back();
      for (const Edge& edge : edges) {
        const NodeState* next = edge.is_valid() ? find(*edge.function) : nullptr;
        if (next && (next->wanted || !next->captures.empty())) state.wanted = true;
      }
    }
  }
}

}  // namespace tenon::autograd
