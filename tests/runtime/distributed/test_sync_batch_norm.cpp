#include <catch2/catch.hpp>
#include <cmath>

#include "aten/core/thread_state.h"
#include "autograd/autograd.h"
#include "runtime/distributed/ddp/distributed_data_parallel.h"
#include "runtime/distributed/ddp/sync_batch_norm.h"
#include "runtime/nn/modules/sequential.h"
#include "tenon/nn/modules/batchnorm.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/add.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/rsqrt.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

namespace {

/// Numbers around `middle` that look random.
Tensor numbers(std::vector<int64_t> sizes, int seed, ScalarType dtype, double middle = 0) {
  Tensor t = zeros(sizes, TensorOptions(kDouble));
  uint64_t state = static_cast<uint64_t>(seed) * 2654435761u + 12345;
  for (int64_t i = 0; i < t.numel(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    t.data_ptr<double>()[i] = middle + static_cast<double>(state >> 40) / (1 << 24) - 0.5;
  }
  return t.to(dtype);
}

double distance(const Tensor& a, const Tensor& b) {
  const auto x = values(a.to(kDouble)), y = values(b.to(kDouble));
  if (x.size() != y.size()) return 1e300;
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double apart = std::abs(x[i] - y[i]);
    if (!std::isfinite(apart)) return 1e300;
    worst = std::max(worst, apart);
  }
  return worst;
}

}  // namespace

TEST_CASE("SyncBatchNorm: ranks with batches of any sizes are as one with all of them") {
  struct Case {
    ScalarType dtype;
    double middle, tolerance;
  };
  // The one rank has no example, another one only one.
  const std::vector<int64_t> rows{3, 0, 1, 4};
  for (const Case& c : {Case{kDouble, 0, 1e-12}, Case{kFloat, 0, 2e-6}, Case{kFloat, 1000, 2e-3}}) {
    CAPTURE(c.middle, c.tolerance);
    Tensor all = numbers({8, 2, 3}, 1, c.dtype, c.middle);
    all.requires_grad_();
    const Tensor weights = numbers({8, 2, 3}, 2, c.dtype);
    nn::BatchNorm1d alone(nn::BatchNorm1dOptions(2).momentum(0.3));
    alone->to(c.dtype);
    const Tensor joined = alone(all);
    joined.mul(weights).sum().backward();
    CHECK(all_well(on_threads(4, [&](const GroupPtr& g) {
      int64_t first = 0;
      for (int r = 0; r < g->rank(); ++r) first += rows[r];
      const auto part = [&](const Tensor& t) {
        return t.detach().narrow(0, first, rows[g->rank()]);
      };
      Tensor x = part(all).clone();
      x.requires_grad_();
      nn::BatchNorm1d norm(nn::BatchNorm1dOptions(2).momentum(0.3));
      norm->to(c.dtype);
      convert_sync_batchnorm(*norm, g);
      const Tensor y = norm(x);
      RANK_REQUIRE(y.scalar_type() == c.dtype);
      RANK_REQUIRE(distance(y, part(joined)) < c.tolerance);
      y.mul(part(weights)).sum().backward();
      RANK_REQUIRE(distance(x.grad(), part(all.grad())) < c.tolerance);
      Tensor grad = norm->weight.grad().clone(), grad_bias = norm->bias.grad().clone();
      all_reduce(grad, ReduceOp::SUM, g);
      all_reduce(grad_bias, ReduceOp::SUM, g);
      RANK_REQUIRE(distance(grad, alone->weight.grad()) < 10 * c.tolerance);
      RANK_REQUIRE(distance(grad_bias, alone->bias.grad()) < 10 * c.tolerance);
      RANK_REQUIRE(distance(norm->running_mean, alone->running_mean) < (1 + c.middle) * 1e-6);
      RANK_REQUIRE(distance(norm->running_var, alone->running_var) < 10 * c.tolerance);
      RANK_REQUIRE(norm->num_batches_tracked.item<int64_t>() == 1);
      // Evaluation talks to nobody.
      norm->eval();
      if (g->rank() == 0) RANK_REQUIRE(norm(x).defined());
    })));
  }
}

TEST_CASE("SyncBatchNorm in a network that DistributedDataParallel trains") {
  const auto make = [] {
    nn::Sequential net(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Linear(4, 2));
    int seed = 5;
    const NoGradGuard no_grad;
    net->to(kDouble);
    for (Tensor& p : net->parameters()) {
      const Tensor from = numbers({p.numel()}, seed++, kDouble);
      p.copy_(from.view(p.sizes()));
    }
    return net;
  };
  const std::vector<int64_t> rows{2, 4};
  nn::Sequential alone = make();
  alone(numbers({6, 3}, 40, kDouble)).sum().mul(0.5).backward();
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    nn::Sequential net = make();
    convert_sync_batchnorm(*net, g);
    DistributedDataParallel<nn::Sequential> ddp(net, {.group = g});
    const Tensor x = numbers({6, 3}, 40, kDouble).narrow(0, g->rank() * 2, rows[g->rank()]);
    ddp(x).sum().backward();
    for (size_t i = 0; i < net->parameters().size(); ++i)
      RANK_REQUIRE(distance(net->parameters()[i].grad(), alone->parameters()[i].grad()) < 1e-12);
  })));
}

TEST_CASE("SyncBatchNorm: what it refuses, on all ranks") {
  const auto errors = on_threads(2, [](const GroupPtr& g) {
    nn::BatchNorm1d norm(2);
    convert_sync_batchnorm(*norm, g);
    norm(zeros({g->rank(), 2}, TensorOptions(kFloat)));
  });
  for (size_t r = 0; r < errors.size(); ++r) {
    CHECK(errors[r] == "[SyncBatchNorm] Expected more than 1 value per channel when training, got "
                       "1 on all ranks together, input size [" +
                           std::to_string(r) + ", 2] on rank " + std::to_string(r));
  }
  CHECK(all_well(on_threads(1, [](const GroupPtr& g) {
    const Tensor none;
    RANK_REQUIRE(error_of([&] {
                   sync_batch_norm(zeros({2}, TensorOptions(kFloat)), none, none, none, none, 0.1,
                                   1e-5, g);
                 }) == "[SyncBatchNorm] expected at least a 2-dimensional input, got [2]");
    RANK_REQUIRE(error_of([&] {
                   sync_batch_norm(zeros({2, 3}, TensorOptions(kFloat)),
                                   zeros({2}, TensorOptions(kFloat)), none, none, none, 0.1, 1e-5,
                                   g);
                 }).find("of 3 channels, got shape [2]") != std::string::npos);
  })));
}

TEST_CASE("SyncBatchNorm: gradients of gradients are those of the joined batch") {
  // Batch normalisation by its definition, whose derivatives are the operators' own.
  const auto normalised = [](const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const double n = static_cast<double>(x.numel() / x.size(1));
    const auto mean = [&](const Tensor& t) { return t.sum({0, 2}, true).mul(1 / n); };
    const Tensor centred = x.sub(mean(x));
    return centred.mul(mean(centred.mul(centred)).add(1e-5).rsqrt())
        .mul(weight.view({1, 2, 1}))
        .add(bias.view({1, 2, 1}));
  };
  // Of a loss of the gradients of another loss: with respect to input, weight and the incoming
  // gradient.
  const auto second = [](const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const Tensor& a, const Tensor& b) {
    const auto first =
        autograd::grad({y.mul(y).mul(a).sum()}, {x, weight, bias}, {}, std::nullopt, true);
    const Tensor loss = first[0].mul(first[0]).mul(b).sum();
    return autograd::grad({loss}, {x, weight, a});
  };
  const std::vector<int64_t> rows{3, 0, 5};
  const auto parameter = [](std::vector<int64_t> sizes, int seed) {
    Tensor t = numbers(std::move(sizes), seed, kDouble, 0.25);
    t.requires_grad_();
    return t;
  };
  const Tensor all = parameter({8, 2, 3}, 1), factors = parameter({8, 2, 3}, 2);
  const Tensor others = numbers({8, 2, 3}, 3, kDouble);
  const Tensor weight = parameter({2}, 4), bias = parameter({2}, 5);
  const auto expected = second(normalised(all, weight, bias), all, weight, bias, factors, others);
  CHECK(all_well(on_threads(3, [&](const GroupPtr& g) {
    int64_t first = 0;
    for (int r = 0; r < g->rank(); ++r) first += rows[r];
    const auto part = [&](const Tensor& t) {
      Tensor own = t.detach().narrow(0, first, rows[g->rank()]).clone();
      own.requires_grad_();
      return own;
    };
    const Tensor x = part(all), a = part(factors);
    const Tensor w = parameter({2}, 4), b = parameter({2}, 5), none;
    const Tensor y = sync_batch_norm(x, w, b, none, none, 0.1, 1e-5, g);
    const auto got = second(y, x, w, b, a, part(others).detach());
    RANK_REQUIRE(distance(got[0], part(expected[0])) < 1e-9);
    RANK_REQUIRE(distance(got[2], part(expected[2])) < 1e-9);
    const Tensor total = got[1].clone();
    all_reduce(total, ReduceOp::SUM, g);
    RANK_REQUIRE(distance(total, expected[1]) < 1e-9);
  })));
}
