#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "aten/cuda/cuda_device.h"
#include "aten/cuda/stream.h"
#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/full.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/t.h"
#include "tenon/ops/to.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/distributed/gpus.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/values.h"

// The backend "nccl": each rank has a GPU of its own. What it does is compared with what the same
// group does for tensors of the CPU.

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

namespace {

constexpr int kRanks = 2;

std::vector<std::string> on_gpus(const std::function<void(const GroupPtr&, Device)>& f,
                                 const std::string& backend = "nccl") {
  return on_threads(
      kRanks, [&](const GroupPtr& g) { f(g, Device(kCUDA, static_cast<DeviceIndex>(g->rank()))); },
      {.backend = backend});
}

/// Small whole numbers that differ between ranks, in a tensor of any dtype.
Tensor numbers(int rank, std::vector<int64_t> sizes, ScalarType dtype) {
  const Tensor t = zeros(sizes, TensorOptions(kDouble));
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_ptr<double>()[i] = static_cast<double>((i * 3 + rank * 5 + 1) % 4);
  return t.to(dtype);
}

std::vector<double> read(const Tensor& t) {
  const Tensor host = t.to(kCPU);
  return values(is_complex(host.scalar_type()) ? host.to(kComplexDouble).to(kDouble)
                                               : host.to(kDouble));
}

}  // namespace

TEST_CASE("nccl: all_reduce as on the CPU, every dtype and operation") {
  if (!has_gpus(kRanks)) return;
  CHECK(all_well(on_gpus([](const GroupPtr& g, Device gpu) {
    int done = 0;
    for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble,
                                   kComplexFloat, kComplexDouble, kBool, kBFloat16}) {
      for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT, ReduceOp::MIN,
                                ReduceOp::MAX, ReduceOp::BAND, ReduceOp::BOR, ReduceOp::BXOR}) {
        const Tensor host = numbers(g->rank(), {3, 7}, dtype), device = host.to(gpu);
        const std::string expected = error_of([&] { all_reduce(host, op, g); });
        const std::string error = error_of([&] { all_reduce(device, op, g); });
        if (error == "no error") {
          require(read(device) == read(host), tenon::detail::concat(to_string(op), " of ", dtype));
          ++done;
        } else {
          const std::string own = tenon::detail::concat("[all_reduce] ", to_string(op), " of ",
                                                        dtype, " is nothing that NCCL does");
          require(error == expected || error == own, error);
        }
      }
    }
    require(done == 46, std::to_string(done));
  })));
}

TEST_CASE("nccl: the other collectives as on the CPU, with parts of different sizes") {
  if (!has_gpus(kRanks)) return;
  // Without NCCL they go by way of the host.
  const std::string backend = GENERATE("nccl", "gloo");
  CAPTURE(backend);
  const auto collectives = [](const GroupPtr& g, Device gpu) {
    const int rank = g->rank();
    // Of everything that they write, on the one device and on the other.
    const auto run = [&](Device device) {
      std::vector<std::vector<double>> results;
      const auto here = [&](std::vector<int64_t> sizes, int seed) {
        return numbers(rank + seed, std::move(sizes), kFloat).to(device);
      };
      const auto nothing = [&](int64_t n) { return zeros({n}, TensorOptions(kFloat)).to(device); };
      Tensor t = here({5}, 0);
      broadcast(t, 1, g);
      results.push_back(read(t));
      t = here({5}, 1);
      reduce(t, 1, ReduceOp::SUM, g);
      results.push_back(read(t));
      // Rank 0 gives nothing, rank 1 gives three.
      std::vector<Tensor> parts{nothing(0), nothing(3)};
      all_gather(parts, here({3 * rank}, 2), g);
      for (const Tensor& part : parts) results.push_back(read(part));
      parts = rank == 0 ? std::vector<Tensor>{nothing(2), nothing(4)} : std::vector<Tensor>{};
      gather(here({2 + 2 * rank}, 3), parts, 0, g);
      for (const Tensor& part : parts) results.push_back(read(part));
      parts = rank == 1 ? std::vector<Tensor>{here({4}, 4), here({4}, 5)} : std::vector<Tensor>{};
      t = nothing(4);
      scatter(t, parts, 1, g);
      results.push_back(read(t));
      t = nothing(1 + rank);
      reduce_scatter(t, {here({1}, 6), here({2}, 7)}, ReduceOp::AVG, g);
      results.push_back(read(t));
      parts = {nothing(1 + rank), nothing(1 + rank)};
      all_to_all(parts, {here({1}, 8), here({2}, 9)}, g);
      for (const Tensor& part : parts) results.push_back(read(part));
      // Not contiguous: the rest stays as it is.
      const Tensor base = here({4, 3}, 10);
      all_reduce(base.t().narrow(0, 0, 2), ReduceOp::SUM, g);
      results.push_back(read(base));
      const Tensor single = here({}, 11), row = here({4}, 12);
      all_reduce_coalesced({single, base, row}, ReduceOp::SUM, g);
      for (const Tensor& one : {single, base, row}) results.push_back(read(one));
      // More than what goes along with the headers.
      const Tensor large = here({100, 170}, 13), larger = nothing(2 * 17000).view({200, 170});
      all_reduce(large, ReduceOp::AVG, g);
      all_gather_into_tensor(larger, large, g);
      results.push_back(read(larger));
      return results;
    };
    const auto expected = run(kCPU), got = run(gpu);
    RANK_REQUIRE(expected.size() == got.size());
    for (size_t i = 0; i < got.size(); ++i) require(expected[i] == got[i], std::to_string(i));
    barrier(g);
  };
  CHECK(all_well(on_gpus(collectives, backend)));
}

TEST_CASE("nccl: messages from GPU to GPU, and between a GPU and the CPU") {
  if (!has_gpus(kRanks)) return;
  const std::string backend = GENERATE("nccl", "gloo");
  CAPTURE(backend);
  const auto messages = [](const GroupPtr& g, Device gpu) {
    const int rank = g->rank(), other = 1 - rank;
    const cuda::StreamGuard guard(cuda::stream_from_pool(false, gpu.index()));
    const auto ones = [](int64_t n, Device d) {
      return full({n}, 1.0, TensorOptions(kFloat).device(d));
    };
    // Both send first.
    send(ones(3, gpu).mul(rank + 2), other, g);
    const Tensor base = zeros({3, 2}, TensorOptions(kFloat).device(gpu));
    RANK_REQUIRE(recv(base.narrow(1, 1, 1).view({3}), other, g) == other);
    const double sent = other + 2;
    RANK_REQUIRE(read(base) == std::vector<double>{0, sent, 0, sent, 0, sent});
    // To and from the CPU.
    send(ones(2, rank == 0 ? kCPU : gpu), other, g, 5);
    const Tensor into = zeros({2}, TensorOptions(kFloat).device(rank == 0 ? Device(kCPU) : gpu));
    recv(into, other, g, 5);
    RANK_REQUIRE(read(into) == std::vector<double>(2, 1));
    // In any order, behind what the stream holds when they are asked for.
    std::vector<Tensor> tensors;
    std::vector<WorkPtr> works;
    for (int i = 0; i < 3; ++i) {
      tensors.push_back(zeros({50}, TensorOptions(kFloat).device(gpu)));
      tensors.back().add_(-1);
      works.push_back(irecv(tensors.back(), other, g, i));
    }
    for (int i = 0; i < 3; ++i) isend(ones(50, gpu).mul(i + 1), other, g, i)->wait();
    for (int i = 2; i >= 0; --i) {
      const cuda::StreamGuard another(cuda::stream_from_pool(false, gpu.index()));
      works[i]->wait();
      RANK_REQUIRE(read(tensors[i].add(1)) == std::vector<double>(50, i + 2));
    }
    barrier(g);
  };
  CHECK(all_well(on_gpus(messages, backend)));
}

TEST_CASE("nccl: collectives come after what the current stream holds, and before what follows") {
  if (!has_gpus(kRanks)) return;
  const std::string backend = GENERATE("nccl", "gloo");
  CAPTURE(backend);
  const auto rounds = [](const GroupPtr& g, Device gpu) {
    for (int round = 0; round < 8; ++round) {
      const cuda::StreamGuard guard(cuda::stream_from_pool(false, gpu.index()));
      std::vector<Tensor> tensors;
      std::vector<WorkPtr> works;
      for (int i = 0; i < 3; ++i) {
        Tensor t = zeros({100}, TensorOptions(kFloat)).to(gpu);
        t.add_(i + g->rank());
        tensors.push_back(t);
        works.push_back(all_reduce(t, ReduceOp::SUM, g, {.async_op = true}));
      }
      for (int i = 2; i >= 0; --i) {
        works[i]->wait();
        const Tensor after = tensors[i].add(1);
        RANK_REQUIRE(read(after) == std::vector<double>(100, 2.0 * i + 2));
        RANK_REQUIRE(works[i]->is_completed() && works[i]->is_success());
      }
      // Nobody waits, and the memory goes to the next request.
      for (int i = 0; i < 4; ++i) {
        const Tensor t = full({64}, 1.0, TensorOptions(kFloat)).to(gpu);
        all_reduce(t, ReduceOp::SUM, g, {.async_op = true});
        all_reduce_coalesced({t, t.add(1)}, ReduceOp::SUM, g, {.async_op = true});
      }
      Tensor first = zeros({100}, TensorOptions(kFloat)).to(gpu), second = first.add(g->rank());
      const WorkPtr both =
          all_reduce_coalesced({first.add_(1), second}, ReduceOp::SUM, g, {.async_op = true});
      both->wait();
      RANK_REQUIRE(read(first.add(second)) == std::vector<double>(100, 3));
    }
  };
  CHECK(all_well(on_gpus(rounds, backend)));
}

TEST_CASE("nccl: ranks that call different things all learn of both, and go on") {
  if (!has_gpus(kRanks)) return;
  CHECK(all_well(on_gpus([](const GroupPtr& g, Device gpu) {
    const Tensor t = zeros({4 + g->rank()}, TensorOptions(kFloat)).to(gpu);
    const std::string sizes = error_of([&] { all_reduce(t, ReduceOp::SUM, g); });
    require(sizes.find("rank 0 calls all_reduce(SUM) of Float [4] on GPUs, rank 1 calls "
                       "all_reduce(SUM) of Float [5] on GPUs") != std::string::npos,
            sizes);
    const Tensor host = zeros({4}, TensorOptions(kFloat));
    const Tensor where = g->rank() == 0 ? host : host.to(gpu);
    const std::string devices = error_of([&] { broadcast(where, 0, g); });
    require(devices.find("rank 1 calls broadcast from rank 0 of Float [4] on GPUs") !=
                std::string::npos,
            devices);
    const Tensor other = host.to(Device(kCUDA, static_cast<DeviceIndex>(1 - g->rank())));
    const std::string two = error_of([&] { all_reduce(other, ReduceOp::SUM, g); });
    require(two.find("this rank's tensors are on cuda:") != std::string::npos, two);
    const Tensor well = full({3}, 1.0, TensorOptions(kFloat)).to(gpu);
    all_reduce(well, ReduceOp::SUM, g);
    RANK_REQUIRE(read(well) == std::vector<double>(3, 2));
  })));
}

TEST_CASE("nccl: a rank that aborts ends the collectives of all") {
  if (!has_gpus(kRanks)) return;
  const auto errors = on_gpus([](const GroupPtr& g, Device gpu) {
    const Tensor t = full({3}, 1.0, TensorOptions(kFloat)).to(gpu);
    all_reduce(t, ReduceOp::SUM, g);
    if (g->rank() == 1) g->backend().abort("enough");
    while (true) all_reduce(t, ReduceOp::SUM, g);
  });
  for (const std::string& error : errors) {
    CAPTURE(error);
    CHECK(error.find("the group has failed: rank 1 (process ") != std::string::npos);
    CHECK(error.find("enough") != std::string::npos);
  }
}

TEST_CASE("nccl: an error that NCCL finds later fails the group") {
  // Emulated CUDA has one.
  using SetError = void (*)(int);
  const auto set_error =
      reinterpret_cast<SetError>(::dlsym(RTLD_DEFAULT, "ncclEmulationSetAsyncError"));
  if (!has_gpus(kRanks) || !set_error) return;
  const auto errors = on_gpus([&](const GroupPtr& g, Device gpu) {
    const Tensor t = full({3}, 1.0, TensorOptions(kFloat)).to(gpu);
    all_reduce(t, ReduceOp::SUM, g);
    barrier(g);
    if (g->rank() == 0) set_error(3);
    while (true) barrier(g);
  });
  set_error(0);
  for (const std::string& error : errors) {
    CAPTURE(error);
    CHECK(error.find("the group has failed: rank ") != std::string::npos);
    CHECK(error.find("[nccl] NCCL: internal error") != std::string::npos);
  }
}
