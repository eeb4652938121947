#include <catch2/catch.hpp>
#include <map>

#include "autograd/autograd.h"
#include "autograd/checkpoint/checkpoint.h"
#include "runtime/distributed/ddp/buckets.h"
#include "runtime/distributed/ddp/distributed_data_parallel.h"
#include "tenon/nn/modules/activation.h"
#include "tenon/nn/modules/batchnorm.h"
#include "tenon/ops/full.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/tanh.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/distributed/small_net.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

namespace {

using Ddp = DistributedDataParallel<Net>;

std::vector<double> all_values(const nn::Module& module) {
  std::vector<double> all;
  for (const Tensor& p : module.parameters()) {
    const auto v = values(p);
    all.insert(all.end(), v.begin(), v.end());
  }
  return all;
}

std::vector<double> all_gradients(const nn::Module& module) {
  std::vector<double> all;
  for (const Tensor& p : module.parameters()) {
    const auto v = p.grad().defined() ? values(p.grad()) : std::vector<double>{1e300};
    all.insert(all.end(), v.begin(), v.end());
  }
  return all;
}

/// Parameters after `steps` steps on batches of 12 rows, in one process.
std::vector<double> trained_alone(int steps, int rows = 12) {
  Net net;
  fill(*net, 1);
  for (int i = 0; i < steps; ++i) {
    net->zero_grad();
    loss_of(net(numbers(rows, 3, 100 + i))).backward();
    step(*net);
  }
  return all_values(*net);
}

std::string as_bytes(const std::vector<double>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(double)};
}

}  // namespace

TEST_CASE("buckets of the reference model") {
  std::vector<Tensor> parameters;
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{6, 3, 5, 5},
                                                                             {6},
                                                                             {16, 6, 5, 5},
                                                                             {16},
                                                                             {120, 400},
                                                                             {120},
                                                                             {84, 120},
                                                                             {84},
                                                                             {10, 84},
                                                                             {10}})
    parameters.push_back(zeros(sizes, TensorOptions(kFloat)));
  using Buckets = std::vector<std::vector<size_t>>;
  const std::vector<size_t> order{9, 8, 7, 6, 5, 4, 2, 3, 0, 1};
  CHECK(compute_bucket_assignment_by_size(parameters, {4096, 20971}, order) ==
        Buckets{{9, 8, 7, 6}, {5, 4}, {2, 3, 0, 1}});
  CHECK(compute_bucket_assignment_by_size(parameters, {1 << 20, 25 << 20}, order) ==
        Buckets{order});
  CHECK(compute_bucket_assignment_by_size(parameters, {4096, 20971}) ==
        Buckets{{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}});
  parameters[3] = zeros({16}, TensorOptions(kDouble));
  CHECK(compute_bucket_assignment_by_size(parameters, {1 << 20}) ==
        Buckets{{0, 1, 2, 4, 5, 6, 7, 8, 9}, {3}});
  CHECK_THROWS_AS(compute_bucket_assignment_by_size(parameters, {}), ValueError);
  CHECK_THROWS_AS(compute_bucket_assignment_by_size(parameters, {1}, {0}), ValueError);
}

TEST_CASE("several ranks train as one process on all their batches does") {
  const std::vector<double> alone = trained_alone(50);
  std::map<int, std::string> bits;  // of an earlier run with so many ranks
  for (const bool views : {false, true}) {
    for (const int ranks : {1, 2, 4}) {
      CAPTURE(ranks, views);
      std::vector<std::string> results(ranks);
      CHECK(all_well(on_threads(ranks, [&](const GroupPtr& g) {
        Net net;
        fill(*net, 1 + g->rank());  // rank 0's count
        Ddp ddp(net, {.group = g, .gradient_as_bucket_view = views});
        for (int i = 0; i < 50; ++i) {
          ddp.zero_grad(i % 3 != 0);
          const int64_t rows = 12 / ranks;
          loss_of(ddp(numbers(12, 3, 100 + i).narrow(0, g->rank() * rows, rows))).backward();
          step(ddp);
        }
        RANK_REQUIRE(distance(all_values(*net), alone) < 1e-9);
        results[g->rank()] = as_bytes(all_values(*net));
      })));
      for (const std::string& r : results) CHECK(r == results[0]);
      CHECK(bits.emplace(ranks, results[0]).first->second == results[0]);
    }
  }
}

TEST_CASE("buckets are rebuilt in the order of the gradients, and reduced before backward ends") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    Net net;
    fill(*net, 1);
    Ddp ddp(net, {.group = g, .bucket_cap_mb = 8e-6, .first_bucket_bytes = 8});
    RANK_REQUIRE(ddp.buckets().size() == 1);
    std::vector<double> before;
    for (int i = 0; i < 3; ++i) {
      ddp.zero_grad();
      loss_of(ddp(numbers(4, 3, g->rank()))).backward();
      if (i == 0) before = all_gradients(*net);
      // With two ranks another order of adding changes no bit.
      RANK_REQUIRE(all_gradients(*net) == before);
    }
    RANK_REQUIRE(ddp.buckets().size() == 6);
    const DdpTimeline& timeline = ddp.timeline();
    std::vector<size_t> first;
    for (const auto& bucket : ddp.buckets()) first.push_back(bucket[0]);
    RANK_REQUIRE(first == timeline.ready_order);
    RANK_REQUIRE(first[5] < 2);  // the first layer comes last
    RANK_REQUIRE(timeline.launched.size() == 6);
    RANK_REQUIRE(timeline.launched[0] <= timeline.last_gradient);
    RANK_REQUIRE(timeline.reduced.size() == 6 && timeline.forward > 0);
    for (size_t i = 0; i < 6; ++i) {
      RANK_REQUIRE(timeline.launched[i] <= timeline.reduced[i]);
      RANK_REQUIRE(timeline.reduced[i] <= timeline.finished);
    }
    RANK_REQUIRE(timeline.communication() > 0);
    RANK_REQUIRE(timeline.overlap() <= timeline.communication());
    RANK_REQUIRE(timeline.finished >= timeline.last_gradient);
  })));
}

TEST_CASE("models that differ are an error on every rank, with names") {
  struct Case {
    std::function<void(NetImpl&)> change;
    std::string text;
  };
  const std::vector<Case> cases{
      {[](NetImpl& net) { net.register_parameter("more", zeros({2}, TensorOptions(kFloat))); },
       "rank 0 has 6 parameters and buffers, rank 1 has 7; the first that differs: rank 0 has "
       "parameter first.weight: Float [5, 3], strides [3, 1]; rank 1 has parameter more"},
      {[](NetImpl& net) { net.register_buffer("more", zeros({2}, TensorOptions(kFloat))); },
       "rank 0 has no more; rank 1 has buffer more: Float [2]"},
      {[](NetImpl& net) { net.to(kHalf); }, "rank 1 has parameter first.weight: Half [5, 3]"},
      {[](NetImpl& net) { net.second->weight.requires_grad_(false); },
       "rank 1 has parameter second.weight: Float [2, 5], strides [5, 1], without gradient"},
  };
  for (const Case& one : cases) {
    const auto errors = on_threads(2, [&](const GroupPtr& g) {
      Net net;
      if (g->rank() == 1) one.change(*net);
      Ddp ddp(net, {.group = g});
    });
    for (const std::string& error : errors) {
      CAPTURE(error);
      CHECK(contains(error, "[DistributedDataParallel] expected the same model on all ranks"));
      CHECK(contains(error, one.text));
    }
  }
}

TEST_CASE("unused parameters are named on every rank, in the same iteration") {
  // Not used on one rank: the others are told; on all ranks: each says it.
  for (const bool everywhere : {false, true}) {
    CHECK(all_well(on_threads(3, [&](const GroupPtr& g) {
      Net net;
      fill(*net, 1);
      Ddp ddp(net, {.group = g, .bucket_cap_mb = 1e-6, .first_bucket_bytes = 1});
      for (int i = 0; i < 5; ++i) {
        ddp.zero_grad();
        // In the first pass, which has one bucket, and in one with several.
        const bool is_bad = i % 3 == 0, skip = is_bad && (everywhere || g->rank() == 1);
        const std::string error =
            error_of([&] { loss_of(ddp(numbers(4, 3, g->rank()), !skip)).backward(); });
        if (is_bad) {
          require(contains(error, "rank " + std::to_string(everywhere ? g->rank() : 1)) &&
                      contains(error, "extra.weight (number 4), extra.bias (number 5)"),
                  "names in: " + error);
          if (skip) RANK_REQUIRE(!net->extra->weight.grad().defined());
        } else {
          require(error == "no error", error);
        }
      }
    })));
  }
}

TEST_CASE("find_unused_parameters: used on one rank, on none") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    for (const bool views : {false, true}) {
      Net net;
      fill(*net, 1);
      Ddp ddp(net, {.group = g, .find_unused_parameters = true, .gradient_as_bucket_view = views});
      Net alone;
      fill(*alone, 1);
      loss_of(alone(numbers(4, 3, 1))).backward();
      for (int i = 0; i < 2; ++i) {
        ddp.zero_grad();
        loss_of(ddp(numbers(4, 3, g->rank()), g->rank() == 1)).backward();
        // Half of what rank 1 has.
        const auto half = values(alone->extra->weight.grad() * 0.5);
        RANK_REQUIRE(distance(values(net->extra->weight.grad()), half) < 1e-12);
        ddp.zero_grad();
        loss_of(ddp(numbers(4, 3, g->rank()), false)).backward();
        RANK_REQUIRE(!net->extra->weight.grad().defined());
        RANK_REQUIRE(net->first->weight.grad().defined());
      }
    }
  })));
}

TEST_CASE("gradients that were added up under no_sync are those of a large batch") {
  for (const bool views : {false, true}) {
    CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
      Net net;
      fill(*net, 1);
      Ddp ddp(net, {.group = g, .gradient_as_bucket_view = views});
      Net alone;
      fill(*alone, 1);
      for (int i = 0; i < 3; ++i) {
        ddp.zero_grad();
        alone->zero_grad();
        {
          const auto guard = ddp.no_sync();
          (ddp(numbers(2, 3, 10 * i + g->rank())).sum()).backward();
        }
        ddp(numbers(3, 3, 10 * i + 5 + g->rank())).sum().backward();
        for (int r = 0; r < 2; ++r) {
          (alone(numbers(2, 3, 10 * i + r)).sum() * 0.5).backward();
          (alone(numbers(3, 3, 10 * i + 5 + r)).sum() * 0.5).backward();
        }
        RANK_REQUIRE(distance(all_gradients(*net), all_gradients(*alone)) < 1e-12);
      }
    })));
  }
}

TEST_CASE("find_unused_parameters: what was used under no_sync alone is reduced") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    for (const bool views : {false, true}) {
      for (const bool everywhere : {false, true}) {
        Net net, alone;
        fill(*net, 1);
        fill(*alone, 1);
        Ddp ddp(net,
                {.group = g, .find_unused_parameters = true, .gradient_as_bucket_view = views});
        for (int i = 0; i < 2; ++i) {
          ddp.zero_grad();
          alone->zero_grad();
          {
            const auto guard = ddp.no_sync();
            ddp(numbers(2, 3, g->rank()), everywhere || g->rank() == 1).sum().backward();
          }
          ddp(numbers(3, 3, 5 + g->rank()), false).sum().backward();
          for (int r = 0; r < 2; ++r) {
            (alone(numbers(2, 3, r), everywhere || r == 1).sum() * 0.5).backward();
            (alone(numbers(3, 3, 5 + r), false).sum() * 0.5).backward();
          }
          RANK_REQUIRE(distance(all_gradients(*net), all_gradients(*alone)) < 1e-12);
          // Over: the next reduction without it leaves it as it was.
          net->extra->weight.mutable_grad().reset();
          ddp(numbers(3, 3, g->rank()), false).sum().backward();
          RANK_REQUIRE(!net->extra->weight.grad().defined());
        }
      }
    }
  })));
}

TEST_CASE("two forward calls and one backward pass") {
  for (const bool find_unused : {false, true}) {
    for (const bool is_static : {false, true}) {
      for (const bool views : {false, true}) {
        CAPTURE(find_unused, is_static, views);
        CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
          Net net, alone;
          fill(*net, 1);
          fill(*alone, 1);
          Ddp ddp(net, {.group = g,
                        .bucket_cap_mb = 1e-6,
                        .first_bucket_bytes = 1,
                        .find_unused_parameters = find_unused,
                        .static_graph = is_static,
                        .gradient_as_bucket_view = views});
          // With find_unused_parameters one of the calls alone uses the last layer.
          const auto loss = [&](auto& model, int rank) {
            const Tensor first = loss_of(model(numbers(4, 3, rank)));
            return first + model(numbers(2, 3, 7 + rank), !find_unused).sum();
          };
          for (int i = 0; i < 3; ++i) {
            ddp.zero_grad();
            alone->zero_grad();
            loss(ddp, g->rank()).backward();
            for (int r = 0; r < 2; ++r) (loss(alone, r) * 0.5).backward();
            RANK_REQUIRE(distance(all_gradients(*net), all_gradients(*alone)) < 1e-12);
          }
        })));
      }
    }
  }
}

TEST_CASE("gradients of inputs reduce nothing; a loss that is made of them does") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    for (const bool find_unused : {false, true}) {
      Net net, alone;
      fill(*net, 1);
      fill(*alone, 1);
      Ddp ddp(net, {.group = g, .find_unused_parameters = find_unused});
      const auto input = [&](int rank) {
        Tensor x = numbers(4, 3, rank);
        x.requires_grad_(true);
        return x;
      };
      const auto gradient = [&](auto& model, const Tensor& x, bool create_graph) {
        return autograd::grad({model(x).sum()}, {x}, {}, create_graph, create_graph)[0];
      };
      // Alone, on one rank more often.
      for (int k = 0; k <= g->rank(); ++k) {
        const Tensor x = input(k);
        const auto own = values(gradient(alone, x, false));
        const auto guard = ddp.no_sync();
        RANK_REQUIRE(distance(values(gradient(ddp, x, false)), own) < 1e-12);
      }
      const Tensor x = input(g->rank());
      RANK_REQUIRE(distance(values(gradient(ddp, x, false)), values(gradient(alone, x, false))) <
                   1e-12);
      for (const bool with_loss : {true, false}) {
        if (!with_loss && !find_unused) continue;  // some biases are not used then
        const auto loss = [&](auto& model, int rank) {
          const Tensor in = input(rank);
          const Tensor g_in = gradient(model, in, true);
          const Tensor penalty = (g_in * g_in).sum();
          return with_loss ? penalty + loss_of(model(in)) : penalty;
        };
        for (int i = 0; i < 2; ++i) {
          ddp.zero_grad();
          alone->zero_grad();
          loss(ddp, g->rank()).backward();
          for (int r = 0; r < 2; ++r) (loss(alone, r) * 0.5).backward();
          RANK_REQUIRE(distance(all_gradients(*net), all_gradients(*alone)) < 1e-12);
        }
      }
    }
  })));
}

TEST_CASE("an output that the loss does not use leaves parameters without gradients") {
  struct BothImpl : NetImpl {
    std::pair<Tensor, Tensor> forward(const Tensor& x) {
      const Tensor y = second(tanh(first(x)));
      return {y, extra(y)};
    }
  };
  using Both = nn::ModuleHolder<BothImpl>;
  for (const bool find_unused : {false, true}) {
    for (const bool is_static : {false, true}) {
      CAPTURE(find_unused, is_static);
      CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
        Both net;
        fill(*net, 1);
        DistributedDataParallel<Both> ddp(
            net, {.group = g, .find_unused_parameters = find_unused, .static_graph = is_static});
        for (int i = 0; i < 2; ++i) {
          const std::string error =
              error_of([&] { loss_of(ddp(numbers(4, 3, g->rank())).first).backward(); });
          if (find_unused) {
            require(error == "no error", error);
          } else {
            require(contains(error, "extra.weight (number 4), extra.bias (number 5)"), error);
          }
          RANK_REQUIRE(!net->extra->weight.grad().defined());
        }
      })));
    }
  }
}

TEST_CASE("all of a module in a reentrant checkpoint") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    struct WholeImpl : NetImpl {
      Tensor forward(const Tensor& x) {
        autograd::CheckpointOptions options;
        options.use_reentrant = true;
        return autograd::checkpoint([this](const Tensor& t) { return NetImpl::forward(t); }, x,
                                    options);
      }
    };
    nn::ModuleHolder<WholeImpl> net;
    fill(*net, 1);
    DistributedDataParallel<nn::ModuleHolder<WholeImpl>> ddp(net, {.group = g});
    Net alone;
    fill(*alone, 1);
    Tensor x = numbers(4, 3, g->rank());
    x.requires_grad_(true);
    loss_of(ddp(x)).backward();
    for (int r = 0; r < 2; ++r) (loss_of(alone(numbers(4, 3, r))) * 0.5).backward();
    RANK_REQUIRE(distance(all_gradients(*net), all_gradients(*alone)) < 1e-12);
  })));
}

TEST_CASE("ranks with different numbers of inputs join") {
  for (const bool initial : {true, false}) {
    CHECK(all_well(on_threads(3, [&](const GroupPtr& g) {
      Net net;
      fill(*net, 1);
      Ddp ddp(net, {.group = g});
      Net alone;
      fill(*alone, 1);
      // Rank r has r + 1 inputs; what one process does with those that are there.
      for (int i = 0; i < 3; ++i) {
        alone->zero_grad();
        for (int r = i; r < 3; ++r)
          (loss_of(alone(numbers(4, 3, 10 * i + r))) * (1.0 / (initial ? 3 : 3 - i))).backward();
        step(*alone);
      }
      ddp.join(
          [&] {
            for (int i = 0; i <= g->rank(); ++i) {
              ddp.zero_grad();
              loss_of(ddp(numbers(4, 3, 10 * i + g->rank()))).backward();
              step(ddp);
            }
          },
          {.divide_by_initial_world_size = initial});
      RANK_REQUIRE(distance(all_values(*net), all_values(*alone)) < 1e-12);
    })));
  }
  const auto errors = on_threads(2, [](const GroupPtr& g) {
    Net net;
    Ddp ddp(net, {.group = g});
    const auto x = zeros({1, 3}, TensorOptions(kFloat));
    ddp.join(
        [&] {
          for (int i = 0; i < 2 + g->rank(); ++i) ddp(x).sum().backward();
        },
        {.throw_on_early_termination = true});
  });
  for (const std::string& error : errors)
    CHECK(error == "[join] ranks that have run out of inputs before others: 0");
}

TEST_CASE("rank 0's buffers go to all before a forward call, without counting as a change") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    nn::BatchNorm1d norm(2);
    DistributedDataParallel<nn::BatchNorm1d> ddp(norm, {.group = g});
    Tensor x = full({2, 2}, 1.0 + g->rank(), TensorOptions(kFloat));
    *x.data_ptr<float>() = 0;
    // Twice before backward.
    const Tensor first = ddp(x);
    const auto version = norm->running_mean._version();
    (first + ddp(x)).sum();
    RANK_REQUIRE(norm->running_mean._version() == version);
    ddp(x).sum().backward();
    // The last forward call's own change aside, all have what rank 0 had.
    nn::BatchNorm1d alone(2);
    Tensor first_rank = full({2, 2}, 1.0, TensorOptions(kFloat));
    *first_rank.data_ptr<float>() = 0;
    alone(first_rank), alone(first_rank), alone(x);
    RANK_REQUIRE(distance(values(norm->running_mean), values(alone->running_mean)) < 1e-6);
  })));
}

TEST_CASE("hooks: half the bytes, one's own, and no second one") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    Net alone;
    fill(*alone, 1);
    for (int r = 0; r < 2; ++r) (loss_of(alone(numbers(4, 3, r))) * 0.5).backward();
    const std::vector<double> exact = all_gradients(*alone);
    const auto gradients = [&](const CommHook& hook) {
      Net net;
      fill(*net, 1);
      Ddp ddp(net, {.group = g, .bucket_cap_mb = 4e-5, .first_bucket_bytes = 40});
      ddp.register_comm_hook(hook);
      RANK_REQUIRE(contains(error_of([&] { ddp.register_comm_hook(allreduce_hook()); }),
                            "there is a hook already"));
      for (int i = 0; i < 2; ++i) {
        ddp.zero_grad();
        loss_of(ddp(numbers(4, 3, g->rank()))).backward();
      }
      return all_gradients(*net);
    };
    RANK_REQUIRE(distance(gradients(allreduce_hook()), exact) < 1e-12);
    const double half = distance(gradients(fp16_compress_hook()), exact);
    const double brain = distance(gradients(bf16_compress_hook()), exact);
    RANK_REQUIRE(half > 0 && half < 2e-3 && brain > half && brain < 2e-2);
    std::vector<size_t> seen;
    gradients([&](const GradBucket& bucket) -> std::function<void()> {
      seen.push_back(bucket.index);
      RANK_REQUIRE(bucket.gradients.size() == bucket.parameters.size());
      return allreduce_hook()(bucket);
    });
    RANK_REQUIRE(seen.size() > 2 && seen[0] == 0 && seen[1] == 0 && seen[2] == 1);
  })));
}

TEST_CASE("static graphs: checkpoints of both kinds, parameters that are never used") {
  for (const bool reentrant : {false, true}) {
    for (const bool unused : {false, true}) {
      CAPTURE(reentrant, unused);
      CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
        struct CheckpointedImpl : NetImpl {
          bool reentrant, unused;
          Tensor run(const Tensor& x) {
            // The first layer twice, so that its parameters get gradients in two passes.
            const auto once = [this](const Tensor& t) { return tanh(first(t)); };
            autograd::CheckpointOptions options;
            options.use_reentrant = reentrant;
            const Tensor a = autograd::checkpoint(once, x, options);
            const Tensor b = autograd::checkpoint(once, a.narrow(1, 0, 3), options);
            const Tensor y = second(b);
            return unused ? y : extra(y);
          }
          Tensor forward(const Tensor& x) { return run(x); }
        };
        using Checkpointed = nn::ModuleHolder<CheckpointedImpl>;
        Checkpointed net, alone;
        for (const Checkpointed& one : {net, alone}) {
          one->reentrant = reentrant;
          one->unused = unused;
          fill(*one, 1);
        }
        DistributedDataParallel<Checkpointed> ddp(
            net, {.group = g, .find_unused_parameters = unused, .static_graph = true});
        for (int i = 0; i < 3; ++i) {
          const auto input = [&](int r) {
            Tensor x = numbers(4, 3, 10 * i + r);
            x.requires_grad_(true);
            return x;
          };
          ddp.zero_grad();
          alone->zero_grad();
          loss_of(ddp(input(g->rank()))).backward();
          for (int r = 0; r < 2; ++r) (loss_of(alone(input(r))) * 0.5).backward();
          RANK_REQUIRE(distance(all_gradients(*net), all_gradients(*alone)) < 1e-12);
        }
      })));
    }
  }
}

TEST_CASE("a reentrant checkpoint within backward, each parameter once") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    struct OnceImpl : NetImpl {
      Tensor forward(const Tensor& x) {
        autograd::CheckpointOptions options;
        options.use_reentrant = true;
        return extra(second(
            autograd::checkpoint([this](const Tensor& t) { return tanh(first(t)); }, x, options)));
      }
    };
    using Once = nn::ModuleHolder<OnceImpl>;
    Once net;
    fill(*net, 1);
    DistributedDataParallel<Once> ddp(net,
                                      {.group = g, .bucket_cap_mb = 1e-6, .first_bucket_bytes = 1});
    Net alone;
    fill(*alone, 1);
    for (int i = 0; i < 3; ++i) {
      Tensor x = numbers(4, 3, g->rank());
      x.requires_grad_(true);
      ddp.zero_grad();
      alone->zero_grad();
      loss_of(ddp(x)).backward();
      for (int r = 0; r < 2; ++r) (loss_of(alone(numbers(4, 3, r))) * 0.5).backward();
      RANK_REQUIRE(distance(all_gradients(*net), all_gradients(*alone)) < 1e-12);
    }
  })));
}

TEST_CASE("a graph that changes breaks static_graph's promise, on every rank") {
  const auto errors = on_threads(2, [](const GroupPtr& g) {
    Net net;
    fill(*net, 1);
    Ddp ddp(net, {.group = g, .static_graph = true});
    for (int i = 0; i < 3; ++i) loss_of(ddp(numbers(4, 3, 1), i != 1 || g->rank() == 0)).backward();
  });
  for (const std::string& error : errors) {
    CAPTURE(error);
    CHECK(contains(error, "rank 1: the graph has changed since the first iteration"));
    CHECK(contains(error, "extra.weight (number 4)"));
  }
}

TEST_CASE("a backward pass that ends with an error is an error of all, and training goes on") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    Net net;
    fill(*net, 1);
    Ddp ddp(net, {.group = g, .bucket_cap_mb = 1e-6, .first_bucket_bytes = 1});
    int hook = -1;
    for (int i = 0; i < 4; ++i) {
      if (hook >= 0) net->first->weight.remove_hook(static_cast<unsigned>(hook));
      hook = -1;
      ddp.zero_grad();
      const Tensor out = ddp(numbers(4, 3, 1));
      const bool bad = i == 2 && g->rank() == 1;
      if (bad) {
        hook = static_cast<int>(net->first->weight.register_hook(
            [](const Tensor&) -> Tensor { throw Error("a hook's mistake"); }));
      }
      const std::string error = error_of([&] { loss_of(out).backward(); });
      if (i == 2) {
        require(contains(error, bad ? "a hook's mistake" : "rank 1: its backward pass ended"),
                error);
      } else {
        require(error == "no error", error);
      }
    }
  })));
}

TEST_CASE("state_dict keys with and without module.") {
  CHECK(all_well(on_threads(1,
                            [](const GroupPtr& g) {
                              Net net, other;
                              fill(*net, 1);
                              fill(*other, 7);
                              Ddp ddp(net, {.group = g});
                              RANK_REQUIRE(ddp.state_dict().contains("module.first.weight"));
                              RANK_REQUIRE(ddp.module_state_dict().contains("first.weight"));
                              const nn::StateDict with = ddp.state_dict();
                              Ddp second(other, {.group = g});
                              second.load_state_dict(with);
                              RANK_REQUIRE(all_values(*other) == all_values(*net));
                              fill(*other, 7);
                              second.load_state_dict(net->state_dict());
                              RANK_REQUIRE(all_values(*other) == all_values(*net));
                              nn::StateDict wrong = with;
                              wrong.erase("module.first.bias");
                              RANK_REQUIRE(contains(
                                  error_of([&] { second.load_state_dict(wrong); }), "first.bias"));
                            },
                            {.backend = "single"})));
}
