#include "autograd/engine/streams.h"

#include <algorithm>

namespace tenon::autograd {

NodeStream NodeStream::of(const Node& node) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const InputMetadata& result = node.input_metadata(i);
    if (!result.defined() || result.device().is_cpu()) continue;
    if (const DeviceStreams* functions = device_streams(result.device().type()))
      return {functions, result.device(), result.stream()};
  }
  return {};
}

OnStreamOf::OnStreamOf(const NodeStream& stream) : stream_(stream), device_(stream.device) {
  if (!stream_) return;
  previous_ = stream_.functions->current(stream_.device);
  if (previous_ != stream_.handle) stream_.functions->make_current(stream_.device, stream_.handle);
}

OnStreamOf::~OnStreamOf() {
  if (stream_ && previous_ != stream_.handle)
    stream_.functions->make_current(stream_.device, previous_);
}

void StreamsOfPass::hand_over(const Tensor& grad, const Node& to) {
  const NodeStream stream = NodeStream::of(to);
  if (!stream) return;
  if (std::find(used_.begin(), used_.end(), stream) == used_.end()) used_.push_back(stream);
  const Device device = grad.device();
  const DeviceStreams* functions = device_streams(device.type());
  if (functions != stream.functions) return;
  void* const from = functions->current(device);
  if (from == stream.handle && device == stream.device) return;
  functions->wait(stream.device, stream.handle, device, from);
  if (device == stream.device) functions->keep(grad, stream.handle);
}

void StreamsOfPass::join(const std::vector<Tensor>& results) {
  for (const NodeStream& used : used_) {
    void* const here = used.functions->current(used.device);
    if (here != used.handle) used.functions->wait(used.device, here, used.device, used.handle);
  }
  if (used_.empty()) return;
  for (const Tensor& t : results) {
    const DeviceStreams* functions = t.defined() ? device_streams(t.device().type()) : nullptr;
    if (functions) functions->keep(t, functions->current(t.device()));
  }
}

}  // namespace tenon::autograd
