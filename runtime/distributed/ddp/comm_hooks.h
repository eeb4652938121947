#pragma once

#include <functional>

#include "runtime/distributed/process_group.h"

namespace tenon::distributed {

/// Gradients that are reduced together.
struct GradBucket {
  size_t index;
  bool is_last;
  /// All of them, one after another, as this rank has computed them.
  Tensor buffer;
  /// The gradients, views of `buffer`, and the parameters they are of.
  std::vector<Tensor> gradients;
  std::vector<Tensor> parameters;
  GroupPtr group;
};

/// Takes the place of all_reduce: called when a bucket is full, in the same order on all ranks. It
/// may begin a collective; what it returns is called at the end of backward, in the order of the
/// buckets, and must leave the mean over the ranks in the buffer.
using CommHook = std::function<std::function<void()>(const GradBucket& bucket)>;

/// all_reduce of the mean.
TENON_API CommHook allreduce_hook();
/// The same with half the bytes: gradients are sent as Half, or as BFloat16.
TENON_API CommHook fp16_compress_hook();
TENON_API CommHook bf16_compress_hook();

}  // namespace tenon::distributed
