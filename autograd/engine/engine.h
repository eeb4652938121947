#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "autograd/engine/node.h"

namespace tenon::autograd {

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;
  /// The pass ends at these edges. By default it goes to all leaves.
  std::optional<std::vector<Edge>> targets;
  /// The gradients of the targets are returned, and no leaf accumulates.
  bool capture = false;
};

/// Runs the graph backwards from `roots` with their gradients, on the calling thread. A node is
/// ready when all its gradients have arrived; of the ready nodes the one with the highest sequence
/// number runs first. Returns the captured gradients, undefined if none arrived. An exception of a
/// node ends the pass and reaches the caller unchanged. Several threads may run passes at the same
/// time, also over shared parts of a graph, and a node may start another pass.
TENON_API std::vector<Tensor> run_backward(const std::vector<Edge>& roots,
                                           const std::vector<Tensor>& root_grads,
                                           const BackwardOptions& options);

/// A pass that starts deep within other passes runs as `part` on a fresh stack. This function calls
/// `part`, so that an interpreter can adjust its own count of the depth of calls. Null: no
/// adjustment is needed.
extern TENON_API constinit std::atomic<void (*)(const std::function<void()>& part)>
    call_on_fresh_stack;

/// Unique number of the backward pass that runs on this thread; -1 outside of a pass.
TENON_API int64_t current_pass_id();
/// Whether the pass that runs on this thread keeps saved values (`retain_graph`).
TENON_API bool current_pass_keeps_graph();
/// Whether a gradient will still arrive at the node in the pass that runs on this thread. The node
/// may have been deleted: only its address is used. Takes time proportional to the number of nodes.
TENON_API bool will_execute(const Node* node);
/// Whether the pass that runs on this thread will still call the node's apply().
TENON_API bool will_apply(const Node& node);
/// Calls `f` when the pass that runs on this thread has finished without an error, after the
/// callbacks that were queued before. Throws outside of a pass.
TENON_API void queue_callback(std::function<void()> f);

}  // namespace tenon::autograd
