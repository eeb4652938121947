#include "autograd/node.h"

#include "autograd/accumulate_grad.h"
#include "autograd/engine.h"

namespace tenon::autograd {
namespace {

constinit thread_local uint64_t next_sequence_nr __attribute__((tls_model("initial-exec"))) = 0;

/// Nodes waiting to be deleted: a graph is taken down step by step, not by recursion, however deep.
struct Graveyard {
  std::vector<Node*> nodes;
  bool busy = false;
};
thread_local Graveyard graveyard;

}  // namespace

Node::Node() : sequence_nr_(next_sequence_nr++) {}

void Node::destroy(Node* node) noexcept {
  if (node->is_accumulator()) {
    static_cast<AccumulateGrad*>(node)->destroy_unless_revived();
    return;
  }
  if (graveyard.busy) {
    graveyard.nodes.push_back(node);
    return;
  }
  graveyard.busy = true;
  delete node;
  while (!graveyard.nodes.empty()) {
    Node* next = graveyard.nodes.back();
    graveyard.nodes.pop_back();
    delete next;
  }
  graveyard.busy = false;
}

bool Node::task_should_compute_output(size_t i) const {
  return should_compute_output(i) && wanted_by_current_task(*next_edges_[i].function);
}

}  // namespace tenon::autograd
