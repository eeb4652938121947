#pragma once

#include <atomic>

#include "autograd/engine/node.h"

namespace tenon::autograd {

/// What is called around each node that a backward pass runs, in any thread; `after` also when the
/// node throws.
struct NodeObserver {
  void (*before)(const Node& node);
  void (*after)(const Node& node) noexcept;
};

/// Null: none. It must live until no pass can be using it.
extern TENON_API constinit std::atomic<const NodeObserver*> node_observer;

}  // namespace tenon::autograd
