#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "autograd/engine/node.h"

namespace tenon::autograd {

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;
  /// Where the pass is to lead, and no further; by default to all leaves.
  std::optional<std::vector<Edge>> targets;
  /// The gradients of the targets are returned, and no leaf accumulates.
  bool capture = false;
};

/// Runs the graph backwards from `roots` with their gradients, on the calling thread: nodes in
/// descending order of their sequence numbers, each when all gradients for it have been added.
/// Several threads may run graphs, and share parts of them, at once; a node may start another run.
/// The captured gradients, undefined where none arrived. A node's exception ends the run and
/// reaches the caller as it is.
TENON_API std::vector<Tensor> run_backward(const std::vector<Edge>& roots,
                                           const std::vector<Tensor>& root_grads,
                                           const BackwardOptions& options);

/// Calls a part of a pass that has a stack of its own, for it starts deep within other passes. For
/// those who count how deep calls are. Null: it is just called.
extern TENON_API constinit std::atomic<void (*)(const std::function<void()>& part)>
    call_on_fresh_stack;

/// Number of the backward pass that runs on this thread, no two alike; -1 outside of one.
TENON_API int64_t current_pass_id();
/// Whether what the pass that runs on this thread has used stays for another one.
TENON_API bool current_pass_keeps_graph();
/// Whether the pass that runs on this thread is still to lead to the node, which is only compared
/// and may have been deleted. Takes time for each node of the pass.
TENON_API bool will_execute(const Node* node);
/// Whether the pass that runs on this thread is still to call the node's apply().
TENON_API bool will_apply(const Node& node);
/// Calls `f` when the pass that runs on this thread has come to its end without an error, after
/// those that were queued before. Throws outside of a pass.
TENON_API void queue_callback(std::function<void()> f);

}  // namespace tenon::autograd
