#include "runtime/distributed/ddp/comm_hooks.h"

#include "aten/core/thread_state.h"
#include "runtime/distributed/streams.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/div.h"
#include "tenon/ops/to.h"

namespace tenon::distributed {
namespace {

CommHook compress_hook(ScalarType dtype) {
  return [dtype](const GradBucket& bucket) -> std::function<void()> {
    const NoGradGuard no_grad;
    // Divided first: the sum of half-precision numbers may be too large for one.
    const Tensor compressed = bucket.buffer.to(dtype).div_(bucket.group->size());
    const WorkPtr work =
        bucket.group->backend().all_reduce(compressed, ReduceOp::SUM, {.async_op = true});
    return [buffer = bucket.buffer, compressed, work] {
      work->wait();
      const NoGradGuard no_grad_either;
      buffer.copy_(compressed);
      detail::keep_for_current_stream(compressed);
    };
  };
}

}  // namespace

CommHook allreduce_hook() {
  return [](const GradBucket& bucket) -> std::function<void()> {
    const NoGradGuard no_grad;
    bucket.buffer.div_(bucket.group->size());
    const WorkPtr work =
        bucket.group->backend().all_reduce(bucket.buffer, ReduceOp::SUM, {.async_op = true});
    return [work] { work->wait(); };
  };
}

CommHook fp16_compress_hook() { return compress_hook(kHalf); }
CommHook bf16_compress_hook() { return compress_hook(kBFloat16); }

}  // namespace tenon::distributed
