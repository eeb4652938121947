#include "aten/cuda/copy.h"

#include <cuda_runtime_api.h>

#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/full.h"
#include "tenon/ops/linspace.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"

#include "aten/cuda/pinned.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

constexpr ScalarType kTypes[] = {kBool, kByte,     kChar,  kShort,  kInt,          kLong,
                                 kHalf, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble};

TEST_CASE("tensors of every dtype survive the way to the GPU and back") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype : kTypes) {
    INFO(to_string(dtype));
    const Tensor t = sample({5, 7, 3}, dtype);
    CHECK(difference(t, t.cuda(), 0) == "");
    CHECK(difference(t.transpose(0, 2), t.transpose(0, 2).cuda(), 0) == "");
    CHECK(difference(t.transpose(0, 2), t.cuda().transpose(0, 2), 0) == "");
    CHECK(difference(t.select(1, 2), t.cuda().select(1, 2).contiguous(), 0) == "");
  }
}

TEST_CASE("dtypes convert on the GPU as on the CPU") {
  TENON_NEEDS_GPU();
  for (ScalarType from : kTypes) {
    for (ScalarType to : kTypes) {
      INFO(to_string(from) << " to " << to_string(to));
      Tensor t = sample({67}, from);
      // A negative number has no defined value in an unsigned type.
      if (is_floating_point(from)) t = t.abs();
      CHECK(difference(t.to(to), t.cuda().to(to), 0) == "");
    }
  }
}

TEST_CASE("copy_ broadcasts and writes through views") {
  TENON_NEEDS_GPU();
  same_on_both(
      [](const std::vector<Tensor>& in) {
        Tensor a = in[0].clone();
        a.slice(1, 0, 6, 2).copy_(in[1]);
        Tensor b = in[0].clone();
        b.t().copy_(in[0].t().add(1));
        return std::vector<Tensor>{a, b};
      },
      {sample({4, 6}, kFloat), sample({3}, kDouble, 2)}, 0);
}

TEST_CASE("copies between host and GPU convert and broadcast") {
  TENON_NEEDS_GPU();
  const Tensor source = sample({3, 1}, kFloat);
  Tensor there = tenon::zeros({3, 4}, TensorOptions(kDouble).device(kCUDA));
  there.copy_(source);
  CHECK(difference(source.to(kDouble).expand({3, 4}), there, 0) == "");
  Tensor here = tenon::zeros({4, 3}, TensorOptions(kLong)).t();
  here.copy_(there.mul(10));
  CHECK(difference(there.cpu().mul(10).to(kLong), here.clone(), 0) == "");
}

TEST_CASE("pinned memory is copied without waiting, in order") {
  TENON_NEEDS_GPU();
  const Tensor source(cuda::empty_pinned({1 << 16}, kFloat));
  Tensor(source).fill_(2);
  Tensor there = tenon::empty({1 << 16}, TensorOptions(kCUDA));
  there.copy_(source, /*non_blocking=*/true);
  Tensor back(cuda::empty_pinned({1 << 16}, kFloat));
  back.copy_(there.mul(2), /*non_blocking=*/true);
  cuda::synchronize();
  CHECK(back.sum().item<double>() == 4.0 * (1 << 16));
}

TEST_CASE("a blocking copy from memory pinned elsewhere has read it when it returns") {
  TENON_NEEDS_GPU();
  void* memory = nullptr;
  REQUIRE(cudaHostAlloc(&memory, 1024, cudaHostAllocPortable) == cudaSuccess);
  Tensor source = tenon::from_blob(memory, {256});
  source.fill_(1);
  Tensor there = tenon::empty({256}, TensorOptions(kCUDA));
  there.copy_(source);
  source.fill_(2);
  CHECK(there.sum().item<double>() == 256);
  CHECK(cudaFreeHost(memory) == cudaSuccess);
}

TEST_CASE("numbers come out of GPU tensors") {
  TENON_NEEDS_GPU();
  CHECK(tenon::full({1, 1}, 7, TensorOptions(kLong).device(kCUDA)).item<int64_t>() == 7);
  CHECK(tenon::full({}, 2.5, TensorOptions(kCUDA)).item<double>() == 2.5);
  CHECK(tenon::ones({3}, TensorOptions(kCUDA)).equal(tenon::ones({3}, TensorOptions(kCUDA))));
  CHECK_FALSE(
      tenon::ones({3}, TensorOptions(kCUDA)).equal(tenon::zeros({3}, TensorOptions(kCUDA))));
}

TEST_CASE("fill_ and zero_ reach strided tensors") {
  TENON_NEEDS_GPU();
  same_on_both(
      [](const std::vector<Tensor>& in) {
        Tensor a = in[0].clone(), b = in[0].clone(), c = in[0].clone();
        a.select(1, 1).fill_(5);
        b.t().slice(0, 1, 3).zero_();
        c.fill_(-1);
        return std::vector<Tensor>{a, b, c};
      },
      {sample({4, 6}, kInt)}, 0);
  Tensor narrow = tenon::zeros({2}, TensorOptions(kByte).device(kCUDA));
  CHECK_THROWS_AS(narrow.fill_(1000), Error);
}

TEST_CASE("creation functions make GPU tensors") {
  TENON_NEEDS_GPU();
  const TensorOptions gpu(kCUDA);
  CHECK(difference(tenon::arange(10), tenon::arange(10, TensorOptions(kLong).device(kCUDA)), 0) ==
        "");
  CHECK(difference(tenon::eye(4), tenon::eye(4, gpu), 0) == "");
  CHECK(difference(tenon::linspace(0, 1, 7), tenon::linspace(0, 1, 7, gpu), 0) == "");
}

}  // namespace
}  // namespace tenon::test
