#include "aten/cuda/stream.h"
#include "tenon/ops/ones.h"

#include "aten/cuda/launch.h"
#include "tests/aten/cuda/support.h"

namespace tenon::cuda {
namespace {

TEST_CASE("asking for devices never throws") {
  CHECK(device_count() >= 0);
  CHECK(is_available() == (device_count() > 0));
}

TEST_CASE("a device that does not exist is named in the error") {
  CHECK_THROWS_WITH(resolve(Device(kCUDA, 99)), Catch::Contains("cuda:99"));
  CHECK_THROWS_WITH(resolve(kCPU), Catch::Contains("cpu"));
}

TEST_CASE("StreamGuard sets the current stream of its thread") {
  TENON_NEEDS_GPU();
  const Stream before = current_stream();
  CHECK(before == default_stream());
  const Stream side = stream_from_pool();
  CHECK_FALSE(side == before);
  {
    const StreamGuard guard(side);
    CHECK(current_stream() == side);
    CHECK(current_stream().device() == side.device());
  }
  CHECK(current_stream() == before);
}

TEST_CASE("work on another stream is seen after its event") {
  TENON_NEEDS_GPU();
  const Stream side = stream_from_pool();
  Tensor t;
  Event done;
  {
    const StreamGuard guard(side);
    t = tenon::ones({1 << 20}, TensorOptions(kCUDA)).mul(3);
    done.record(side);
  }
  done.wait(current_stream());
  CHECK(t.sum().item<double>() == 3.0 * (1 << 20));
  CHECK(done.query());
}

TEST_CASE("events measure time") {
  TENON_NEEDS_GPU();
  Event start(true), end(true);
  start.record(current_stream());
  tenon::ones({1 << 22}, TensorOptions(kCUDA)).exp();
  end.record(current_stream());
  end.synchronize();
  CHECK(start.elapsed_time(end) >= 0);
  CHECK_THROWS_WITH(Event().elapsed_time(end), Catch::Contains("elapsed_time"));
}

TEST_CASE("a failing call names itself and its place") {
  TENON_NEEDS_GPU();
  CHECK_THROWS_WITH([] { TENON_CUDA_CHECK(cudaSetDevice(1000)); }(),
                    Catch::Contains("cudaSetDevice(1000)") && Catch::Contains("test_stream.cpp"));
  CHECK(tenon::ones({2}, TensorOptions(kCUDA)).sum().item<double>() == 2);
}

}  // namespace
}  // namespace tenon::cuda
