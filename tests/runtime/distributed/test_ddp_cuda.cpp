#include <catch2/catch.hpp>
#include <optional>

#include "aten/cuda/cuda_device.h"
#include "aten/cuda/stream.h"
#include "autograd/checkpoint/checkpoint.h"
#include "runtime/distributed/ddp/distributed_data_parallel.h"
#include "runtime/distributed/ddp/power_sgd.h"
#include "runtime/distributed/ddp/sync_batch_norm.h"
#include "runtime/nn/modules/sequential.h"
#include "tenon/nn/modules/batchnorm.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/add.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/to.h"
#include "tests/runtime/distributed/gpus.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/distributed/small_net.h"
#include "tests/runtime/values.h"

// DistributedDataParallel of models on GPUs, one for each rank: what they compute is what the same
// ranks compute on the CPU. Nothing of it waits for a GPU before all iterations have been asked
// for, so that under emulated CUDA whatever is not ordered by events runs in another order.

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

namespace {

constexpr int kRanks = 2;

Device gpu_of(const GroupPtr& g) { return Device(kCUDA, static_cast<DeviceIndex>(g->rank())); }

/// What a rank computes on a device, a list of tensors of any devices.
using Program = std::function<std::vector<Tensor>(const GroupPtr&, Device)>;

std::vector<std::vector<double>> read(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<double>> all;
  for (const Tensor& t : tensors)
    all.push_back(t.defined() ? values(t.to(kCPU)) : std::vector<double>());
  return all;
}

/// Checks that the program computes on GPUs what it does on the CPU: with NCCL, and by way of the
/// host, in the default stream and in another one.
void check_as_on_cpu(const Program& f, double tolerance = 1e-12) {
  std::vector<std::vector<std::vector<double>>> expected(kRanks);
  CHECK(all_well(
      on_threads(kRanks, [&](const GroupPtr& g) { expected[g->rank()] = read(f(g, kCPU)); })));
  for (const char* backend : {"nccl", "gloo"}) {
    for (const bool side : {false, true}) {
      CAPTURE(backend, side);
      CHECK(all_well(on_threads(
          kRanks,
          [&](const GroupPtr& g) {
            const DeviceIndex gpu = gpu_of(g).index();
            const cuda::StreamGuard guard(side ? cuda::stream_from_pool(false, gpu)
                                               : cuda::default_stream(gpu));
            const auto got = read(f(g, gpu_of(g)));
            const auto& own = expected[g->rank()];
            RANK_REQUIRE(got.size() == own.size() && !own.empty());
            for (size_t i = 0; i < got.size(); ++i) {
              require(distance(got[i], own[i]) <= tolerance,
                      "result " + std::to_string(i) + " as on the CPU, found a difference of " +
                          std::to_string(distance(got[i], own[i])));
            }
          },
          {.backend = backend})));
    }
  }
}

void keep_gradients(std::vector<Tensor>& kept, const nn::Module& module) {
  const NoGradGuard no_grad;
  for (const Tensor& p : module.parameters())
    kept.push_back(p.grad().defined() ? p.grad().clone() : Tensor());
}

/// Gradients of a few steps, and the parameters after them.
std::vector<Tensor> train(const GroupPtr& g, Device device, DistributedDataParallelOptions options,
                          const CommHook& hook = {}, bool skip_extra = false) {
  Net net;
  fill(*net, 1 + g->rank());  // rank 0's count
  net->to(device);
  options.group = g;
  DistributedDataParallel<Net> ddp(net, options);
  if (hook) ddp.register_comm_hook(hook);
  std::vector<Tensor> kept;
  for (int i = 0; i < 4; ++i) {
    ddp.zero_grad(i != 2);
    // Rank 1 alone uses all, and in one iteration nobody does.
    const bool all = !skip_extra || (g->rank() == 1 && i != 1);
    loss_of(ddp(numbers(4, 3, 10 * i + g->rank()).to(device), all)).backward();
    keep_gradients(kept, *net);
    step(*net);
  }
  for (const Tensor& p : net->parameters()) kept.push_back(p);
  return kept;
}

}  // namespace

TEST_CASE("cuda ddp: gradients as on the CPU, in buckets of any size, as views of them or not") {
  if (!has_gpus(kRanks)) return;
  for (const bool views : {false, true}) {
    for (const bool small : {false, true}) {
      CAPTURE(views, small);
      check_as_on_cpu([&](const GroupPtr& g, Device device) {
        return train(g, device,
                     {.bucket_cap_mb = small ? 8e-6 : 25,
                      .first_bucket_bytes = small ? 8u : 1u << 20,
                      .gradient_as_bucket_view = views});
      });
    }
  }
}

TEST_CASE(
    "cuda ddp: parameters that some or no ranks use, and that are named where it is a mistake") {
  if (!has_gpus(kRanks)) return;
  for (const bool views : {false, true}) {
    check_as_on_cpu([&](const GroupPtr& g, Device device) {
      return train(g, device, {.find_unused_parameters = true, .gradient_as_bucket_view = views},
                   {}, true);
    });
  }
  CHECK(all_well(on_threads(kRanks,
                            [](const GroupPtr& g) {
                              const std::string error =
                                  error_of([&] { train(g, gpu_of(g), {}, {}, true); });
                              require(contains(error, "rank 0: no gradient for parameters") &&
                                          contains(error, "extra.weight (number 4)"),
                                      "names in: " + error);
                            },
                            {.backend = "nccl"})));
}

TEST_CASE("cuda ddp: hooks") {
  if (!has_gpus(kRanks)) return;
  const DistributedDataParallelOptions small{.bucket_cap_mb = 4e-5, .first_bucket_bytes = 40};
  check_as_on_cpu(
      [&](const GroupPtr& g, Device d) { return train(g, d, small, allreduce_hook()); });
  // One unit in the last place of a half type.
  for (const CommHook& hook : {fp16_compress_hook(), bf16_compress_hook()})
    check_as_on_cpu([&](const GroupPtr& g, Device d) { return train(g, d, small, hook); }, 1e-2);
  check_as_on_cpu(
      [&](const GroupPtr& g, Device d) {
        const PowerSGDOptions options{.start_powerSGD_iter = 2, .min_compression_rate = 0.5};
        return train(g, d, small, powerSGD_hook(std::make_shared<PowerSGDState>(options)));
      },
      1e-9);
}

TEST_CASE("cuda ddp: gradients are added up under no_sync, and ranks with fewer inputs join") {
  if (!has_gpus(kRanks)) return;
  for (const bool initial : {true, false}) {
    check_as_on_cpu([&](const GroupPtr& g, Device device) {
      Net net;
      fill(*net, 1);
      net->to(device);
      DistributedDataParallel<Net> ddp(net, {.group = g, .gradient_as_bucket_view = initial});
      const auto input = [&](int seed) { return numbers(3, 3, seed + g->rank()).to(device); };
      std::vector<Tensor> kept;
      for (int i = 0; i < 3; ++i) {
        ddp.zero_grad();
        {
          const auto guard = ddp.no_sync();
          ddp(input(10 * i)).sum().backward();
        }
        ddp(input(10 * i + 5)).sum().backward();
        keep_gradients(kept, *net);
      }
      ddp.join(
          [&] {
            for (int i = 0; i <= 2 * g->rank(); ++i) {
              ddp.zero_grad();
              loss_of(ddp(input(100 + 10 * i))).backward();
              step(*net);
            }
          },
          {.divide_by_initial_world_size = initial});
      for (const Tensor& p : net->parameters()) kept.push_back(p);
      return kept;
    });
  }
}

TEST_CASE("cuda ddp: static graphs with reentrant checkpoints") {
  if (!has_gpus(kRanks)) return;
  struct CheckpointedImpl : NetImpl {
    Tensor forward(const Tensor& x) {
      autograd::CheckpointOptions options;
      options.use_reentrant = true;
      const auto once = [this](const Tensor& t) { return tanh(first(t)); };
      const Tensor a = autograd::checkpoint(once, x, options);
      return extra(second(autograd::checkpoint(once, a.narrow(1, 0, 3), options)));
    }
  };
  using Checkpointed = nn::ModuleHolder<CheckpointedImpl>;
  check_as_on_cpu([&](const GroupPtr& g, Device device) {
    Checkpointed net;
    fill(*net, 1);
    net->to(device);
    DistributedDataParallel<Checkpointed> ddp(
        net, {.group = g, .bucket_cap_mb = 8e-6, .first_bucket_bytes = 8, .static_graph = true});
    std::vector<Tensor> kept;
    for (int i = 0; i < 3; ++i) {
      Tensor x = numbers(4, 3, 10 * i + g->rank()).to(device);
      x.requires_grad_(true);
      ddp.zero_grad();
      loss_of(ddp(x)).backward();
      keep_gradients(kept, *net);
    }
    return kept;
  });
}

TEST_CASE("cuda ddp: rank 0's buffers, and the statistics of all ranks' batches") {
  if (!has_gpus(kRanks)) return;
  for (const bool sync : {false, true}) {
    CAPTURE(sync);
    check_as_on_cpu([&](const GroupPtr& g, Device device) {
      nn::Sequential net(nn::Linear(3, 2), nn::BatchNorm1d(2));
      fill(*net, 1 + g->rank());
      net->to(device);
      if (sync) convert_sync_batchnorm(*net, g);
      DistributedDataParallel<nn::Sequential> ddp(net, {.group = g});
      std::vector<Tensor> kept;
      for (int i = 0; i < 3; ++i) {
        ddp.zero_grad();
        // With statistics of its own each rank needs two examples.
        const int64_t rows = sync && i == 1 ? 4 * g->rank() : 3 + g->rank();
        const Tensor out = ddp(numbers(4, 3, 10 * i + g->rank()).narrow(0, 0, rows).to(device));
        out.mul(out).mul(out).sum().backward();
        keep_gradients(kept, *net);
        const NoGradGuard no_grad;
        for (const Tensor& buffer : net->buffers()) kept.push_back(buffer.clone());
      }
      return kept;
    });
  }
}

TEST_CASE("cuda ddp: a pass in another stream comes after the buckets' last use") {
  if (!has_gpus(kRanks)) return;
  check_as_on_cpu([&](const GroupPtr& g, Device device) {
    Net net;
    fill(*net, 1);
    net->to(device);
    DistributedDataParallel<Net> ddp(net, {.group = g});
    std::vector<Tensor> kept;
    std::vector<Tensor> inputs;
    for (int i = 0; i < 6; ++i) inputs.push_back(numbers(4, 3, 10 * i + g->rank()).to(device));
    if (device.is_cuda()) cuda::synchronize(device.index());
    std::vector<cuda::Stream> streams;
    for (const Tensor& input : inputs) {
      // The passes have nothing in common but the parameters, which nobody changes.
      ddp.zero_grad();
      std::optional<cuda::StreamGuard> guard;
      if (device.is_cuda()) {
        streams.push_back(cuda::stream_from_pool(false, device.index()));
        guard.emplace(streams.back());
      }
      loss_of(ddp(input)).backward();
      for (const Tensor& p : net->parameters()) kept.push_back(p.grad());
    }
    for (const cuda::Stream& stream : streams) stream.synchronize();
    return kept;
  });
}

TEST_CASE("cuda ddp: models on different kinds of devices are an error on every rank") {
  if (!has_gpus(kRanks)) return;
  const auto errors = on_threads(kRanks, [&](const GroupPtr& g) {
    Net net;
    if (g->rank() == 1) net->to(gpu_of(g));
    DistributedDataParallel<Net> ddp(net, {.group = g});
  });
  for (const std::string& error : errors) {
    CAPTURE(error);
    CHECK(contains(error, "[DistributedDataParallel] expected the same model on all ranks"));
    CHECK(contains(error,
                   "rank 1 has parameter first.weight: Float [5, 3], strides [3, 1], on cuda"));
  }
}
