#pragma once

#include <vector>

#include "aten/core/device_interface.h"
#include "aten/core/device_streams.h"
#include "autograd/engine/node.h"

/// Backward on devices with streams. Each node runs on its forward call's stream: that which was
/// current when the first of its results that lies on such a device was made; others run on the
/// caller's. A gradient that goes to a node on another stream is waited for there, and at the end
/// of the pass the caller's streams wait for all others. The host waits for nothing.
namespace tenon::autograd {

/// A stream of a device; that of a node, if it has one.
struct NodeStream {
  const DeviceStreams* functions = nullptr;
  Device device = kCPU;
  void* handle = nullptr;

  static NodeStream of(const Node& node);
  explicit operator bool() const { return functions != nullptr; }
  bool operator==(const NodeStream&) const = default;
};

/// Until the end of the scope the thread's operators use the node's device and stream.
class OnStreamOf {
 public:
  explicit OnStreamOf(const Node& node) : OnStreamOf(NodeStream::of(node)) {}
  ~OnStreamOf();
  OnStreamOf(const OnStreamOf&) = delete;
  OnStreamOf& operator=(const OnStreamOf&) = delete;

 private:
  explicit OnStreamOf(const NodeStream& stream);

  const NodeStream stream_;
  const DeviceGuard device_;
  void* previous_ = nullptr;
};

/// The streams that a backward pass has used.
class StreamsOfPass {
 public:
  /// The gradient has been computed on its device's current stream: the node's waits for that.
  void hand_over(const Tensor& grad, const Node& to);
  /// What the caller does from here on, with the pass's results too, comes after the pass.
  void join(const std::vector<Tensor>& results);

 private:
  std::vector<NodeStream> used_;
};

}  // namespace tenon::autograd
