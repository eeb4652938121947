#pragma once

namespace tenon::batching {

/// From now on operators take batched tensors: what begins the first level calls it.
void register_batched_calls();

}  // namespace tenon::batching
