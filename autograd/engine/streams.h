#pragma once

#include <vector>

#include "aten/core/device_interface.h"
#include "aten/core/device_streams.h"
#include "autograd/engine/node.h"

/// Backward on devices with streams. A node runs on the stream of its forward call: the stream that
/// was current when its first result on such a device was made. A node without such a result runs
/// on the caller's stream. If a gradient goes to a node on another stream, that stream waits for
/// it. At the end of the pass the caller's streams wait for all others. The host never waits.
namespace tenon::autograd {

/// The stream that a node runs on; false if the node has none.
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
  /// The stream of node `to` waits for `grad`, which the device's current stream computes.
  void hand_over(const Tensor& grad, const Node& to);
  /// The caller's streams wait for the streams of the pass, and keep its results alive.
  void join(const std::vector<Tensor>& results);

 private:
  std::vector<NodeStream> used_;
};

}  // namespace tenon::autograd
