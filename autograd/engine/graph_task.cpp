#include "autograd/engine/graph_task.h"

namespace tenon::autograd {

GraphTask::~GraphTask() {
  while (chunks_) {
    Chunk* chunk = std::exchange(chunks_, chunks_->next);
    for (size_t i = 0; i < chunk->count; ++i) {
      set_executed(chunk->tasks()[i]);
      chunk->tasks()[i].~NodeTask();
    }
    memory::deallocate(chunk, sizeof(Chunk));
  }
}

int64_t GraphTask::next_id() {
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

NodeTask& GraphTask::allocate(Node& node) {
  if (!chunks_ || chunks_->count == Chunk::kTasks) {
    Chunk* chunk = ::new (memory::allocate(sizeof(Chunk))) Chunk;
    chunk->next = chunks_;
    chunks_ = chunk;
  }
  return *::new (chunks_->tasks() + chunks_->count++) NodeTask(&node);
}

NodeTask& GraphTask::find_or_add(Node& node, bool& is_new) {
  if (NodeTask* known = find(node)) {
    is_new = false;
    return *known;
  }
  is_new = true;
  NodeTask& task = allocate(node);
  GraphTask* nobody = nullptr;
  if (TENON_LIKELY(
          node.claimed_by_.compare_exchange_strong(nobody, this, std::memory_order_acq_rel))) {
    node.task_ = &task;
    task.claims_node = true;
  } else {
    shared_.emplace(&node, &task);
  }
  return task;
}

const NodeTask* GraphTask::find_address(const Node* node) const {
  for (Chunk* chunk = chunks_; chunk; chunk = chunk->next) {
    for (size_t i = 0; i < chunk->count; ++i) {
      if (chunk->tasks()[i].node == node) return &chunk->tasks()[i];
    }
  }
  return nullptr;
}

void GraphTask::run_callbacks() {
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    const auto callback = std::move(callbacks_[i]);
    callback();
  }
}

}  // namespace tenon::autograd
