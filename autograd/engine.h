#pragma once

#include "autograd/node.h"

namespace tenon::autograd {

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;
  /// Gradients are returned for these instead of being added to leaves; empty: for all leaves.
  std::vector<Edge> capture;
  /// With `inputs` of backward(): only these leaves accumulate.
  std::vector<Edge> only;
};

/// Runs the graph backwards from `roots` with their gradients, on the calling thread: nodes in
/// descending order of their sequence numbers, each when all gradients for it have been added.
/// Several threads may run graphs, and share parts of them, at once; a node may start another run.
/// The captured gradients, undefined where none arrived. A node's exception ends the run and
/// reaches the caller as it is.
TENON_API std::vector<Tensor> run_backward(const std::vector<Edge>& roots,
                                           const std::vector<Tensor>& root_grads,
                                           const BackwardOptions& options);

}  // namespace tenon::autograd
