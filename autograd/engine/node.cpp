#include "autograd/engine/node.h"

#include <mutex>

#include "autograd/engine/accumulate_grad.h"

namespace tenon::autograd {

constinit thread_local uint64_t next_sequence_nr __attribute__((tls_model("initial-exec"))) = 0;

namespace {

/// Nodes waiting to be deleted, so that deleting a graph does not recurse. It has no destructor,
/// because tensors may be destroyed after the thread's other variables.
struct Graveyard {
  Node* first;
  bool busy;
};
constinit thread_local Graveyard graveyard __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

size_t Node::saved_nbytes() const {
  const std::lock_guard lock(saved_lock());
  size_t bytes = 0;
  for (const SavedEntry& entry : saved()) bytes += entry.nbytes();
  return bytes;
}

void Node::destroy(Node* node) noexcept {
  if (node->is_accumulator_) {
    static_cast<AccumulateGrad*>(node)->retire();
    return;
  }
  if (graveyard.busy) {
    node->next_dead_ = graveyard.first;
    graveyard.first = node;
    return;
  }
  graveyard.busy = true;
  while (node) {
    node->dispose();
    node = graveyard.first;
    if (node) graveyard.first = node->next_dead_;
  }
  graveyard.busy = false;
}

}  // namespace tenon::autograd
