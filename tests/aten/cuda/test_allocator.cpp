#include "aten/cuda/cuda_allocator.h"
#include "tenon/ops/empty.h"

#include "aten/cuda/pinned.h"
#include "tests/aten/cuda/support.h"

namespace tenon::cuda {
namespace {

TEST_CASE("a CUDA tensor without a GPU is an error that says so") {
  if (is_available()) return;
  CHECK_THROWS_WITH(tenon::empty({2}, kFloat, kCUDA), Catch::Contains("[cuda]"));
}

TEST_CASE("freed memory goes to the next request of its stream") {
  TENON_NEEDS_GPU();
  empty_cache();
  void* first = nullptr;
  {
    const Workspace block(100000);
    first = block.data();
  }
  const Workspace again(99000);
  CHECK(again.data() == first);
  const Workspace other(99000);
  CHECK(other.data() != first);
}

TEST_CASE("streams do not share cached memory") {
  TENON_NEEDS_GPU();
  empty_cache();
  void* first = nullptr;
  {
    const Workspace block(4096);
    first = block.data();
  }
  const StreamGuard guard(stream_from_pool());
  const Workspace elsewhere(4096);
  CHECK(elsewhere.data() != first);
}

TEST_CASE("no bytes are no memory") {
  TENON_NEEDS_GPU();
  CHECK(Workspace(0).data() == nullptr);
  CHECK(tenon::empty({0, 3}, kFloat, kCUDA).numel() == 0);
}

TEST_CASE("statistics follow tensors") {
  TENON_NEEDS_GPU();
  empty_cache();
  const MemoryStats before = memory_stats();
  {
    const TensorBase t = tenon::empty({1024}, kFloat, kCUDA);
    CHECK(t.device() == Device(kCUDA, current_device()));
    CHECK(memory_stats().allocated_bytes >= before.allocated_bytes + 4096);
    CHECK(memory_stats().allocations == before.allocations + 1);
  }
  CHECK(memory_stats().allocated_bytes == before.allocated_bytes);
  CHECK(memory_stats().cached_bytes >= 4096);
  empty_cache();
  CHECK(memory_stats().cached_bytes == 0);
  reset_peak_memory_stats();
  CHECK(memory_stats().peak_allocated_bytes == memory_stats().allocated_bytes);
}

TEST_CASE("recorded streams delay reuse, and emptying the cache waits for them") {
  TENON_NEEDS_GPU();
  empty_cache();
  const Stream side = stream_from_pool();
  {
    const TensorBase t = tenon::empty({1 << 20}, kFloat, kCUDA);
    record_stream(t, side);
  }
  side.synchronize();
  CHECK(memory_stats().cached_bytes > 0);
  empty_cache();
  CHECK(memory_stats().cached_bytes == 0);
}

TEST_CASE("a request that cannot be met names its size") {
  TENON_NEEDS_GPU();
  const auto total = static_cast<int64_t>(device_properties(current_device()).total_memory);
  CHECK_THROWS_WITH(tenon::empty({total * 2}, kByte, kCUDA), Catch::Contains("out of memory"));
  CHECK(tenon::empty({16}, kByte, kCUDA).defined());
}

TEST_CASE("pinned memory is recognised and reused") {
  TENON_NEEDS_GPU();
  void* first = nullptr;
  {
    const TensorBase t = empty_pinned({10, 10}, kFloat);
    first = t.data_ptr();
    CHECK(is_pinned(t));
    CHECK(t.is_cpu());
  }
  CHECK(empty_pinned({100}, kFloat).data_ptr() == first);
  CHECK_FALSE(is_pinned(tenon::empty({10}, kFloat, kCPU)));
  empty_pinned_cache();
}

}  // namespace
}  // namespace tenon::cuda
