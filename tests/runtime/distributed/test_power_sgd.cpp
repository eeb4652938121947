#include <catch2/catch.hpp>
#include <cmath>

#include "aten/core/thread_state.h"
#include "runtime/distributed/ddp/distributed_data_parallel.h"
#include "runtime/distributed/ddp/power_sgd.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

namespace {

Tensor numbers(int64_t rows, int64_t columns, int seed) {
  Tensor t = zeros({rows, columns}, TensorOptions(kDouble));
  uint64_t state = static_cast<uint64_t>(seed) * 2654435761u + 12345;
  for (int64_t i = 0; i < rows * columns; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    t.data_ptr<double>()[i] = static_cast<double>(state >> 40) / (1 << 24) - 0.5;
  }
  return t;
}

double distance(const Tensor& a, const Tensor& b) {
  const auto x = values(a), y = values(b);
  double worst = x.size() == y.size() ? 0 : 1e300;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    worst = std::max(worst, std::abs(x[i] - y[i]));
  return worst;
}

/// A bucket of gradients of these sizes, made of `parts`.
GradBucket bucket_of(const std::vector<Tensor>& parts, const GroupPtr& g) {
  int64_t total = 0;
  for (const Tensor& p : parts) total += p.numel();
  GradBucket bucket{0, true, zeros({total}, TensorOptions(kDouble)), {}, {}, g};
  int64_t at = 0;
  for (const Tensor& p : parts) {
    bucket.gradients.push_back(bucket.buffer.narrow(0, at, p.numel()).view(p.sizes()));
    bucket.gradients.back().copy_(p);
    at += p.numel();
  }
  return bucket;
}

/// After so many iterations it compresses.
std::shared_ptr<PowerSGDState> started(PowerSGDOptions options, const GroupPtr& g) {
  options.start_powerSGD_iter = 2;
  auto state = std::make_shared<PowerSGDState>(options);
  for (int i = 0; i < 2; ++i) powerSGD_hook(state)(bucket_of({numbers(1, 1, 0)}, g))();
  return state;
}

std::string as_bytes(const Tensor& t) {
  const auto v = values(t);
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(double)};
}

}  // namespace

TEST_CASE("PowerSGD: matrices whose mean has the rank are exact, what is small is sent in full") {
  std::vector<std::string> factors(2);
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    for (const bool warm : {true, false}) {
      const auto state = started({.matrix_approximation_rank = 3, .warm_start = warm}, g);
      for (int i = 0; i < 3; ++i) {
        // Rank r's matrix has rank 1 + r: the mean has rank 3; a vector, and a small matrix.
        const auto matrix = [&](int r) {
          return numbers(20, 1 + r, 10 * i + r).matmul(numbers(1 + r, 30, 10 * i + 5 + r));
        };
        const auto rest = [&](int r) {
          return std::pair(numbers(7, 1, r).view({7}), numbers(3, 3, r));
        };
        const GradBucket bucket =
            bucket_of({matrix(g->rank()), rest(g->rank()).first, rest(g->rank()).second}, g);
        powerSGD_hook(state)(bucket)();
        const auto mean = [](const Tensor& a, const Tensor& b) { return (a + b) * 0.5; };
        RANK_REQUIRE(distance(bucket.gradients[0], mean(matrix(0), matrix(1))) < 1e-12);
        RANK_REQUIRE(distance(bucket.gradients[1], mean(rest(0).first, rest(1).first)) < 1e-15);
        RANK_REQUIRE(distance(bucket.gradients[2], mean(rest(0).second, rest(1).second)) < 1e-15);
      }
      RANK_REQUIRE(state->factors(0).size() == 1 && state->factors(0)[0].size(1) == 3);
      // (20 + 30) 3 numbers for 600, and what was sent in full.
      RANK_REQUIRE(state->numel_before() == 3 * 616 && state->numel_after() == 3 * 166);
      factors[g->rank()] += as_bytes(state->factors(0)[0]);
    }
  })));
  CHECK((!factors[0].empty() && factors[0] == factors[1]));
}

TEST_CASE("PowerSGD: gradients that vanish once do not take the factor with them") {
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    const auto state = started({.matrix_approximation_rank = 2, .use_error_feedback = false}, g);
    const Tensor matrix = numbers(20, 2, 3).matmul(numbers(2, 30, 4));
    for (const double factor : {1.0, 0.0, 1.0}) {
      const GradBucket bucket = bucket_of({matrix * factor}, g);
      powerSGD_hook(state)(bucket)();
      RANK_REQUIRE(distance(bucket.gradients[0], matrix * factor) < 1e-12);
    }
  })));
}

TEST_CASE("PowerSGD: what one iteration loses, the next ones bring") {
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    // The same gradients again and again, of full rank: their sum arrives, but for a bounded rest.
    const Tensor own = numbers(12, 14, g->rank());
    const Tensor mean = (numbers(12, 14, 0) + numbers(12, 14, 1)) * 0.5;
    double with = 0, without = 0;
    for (const bool feedback : {true, false}) {
      const auto state = started({.use_error_feedback = feedback}, g);
      const Tensor sum = zeros({12, 14}, TensorOptions(kDouble));
      const int n = 60;
      for (int i = 0; i < n; ++i) {
        const GradBucket bucket = bucket_of({own}, g);
        powerSGD_hook(state)(bucket)();
        sum.add_(bucket.gradients[0]);
        if (feedback && i == 0) {
          // The errors' mean is what the mean has lost.
          Tensor error = state->error(0).clone();
          all_reduce(error, ReduceOp::AVG, g);
          RANK_REQUIRE(distance(error.view({12, 14}), mean - bucket.gradients[0]) < 1e-12);
        }
      }
      (feedback ? with : without) = distance(sum * (1.0 / n), mean);
      RANK_REQUIRE(state->error(0).defined() == feedback);
    }
    RANK_REQUIRE(with < 0.3 * without);
  })));
}

TEST_CASE("PowerSGD: networks learn, and all ranks have the same") {
  std::vector<std::string> results(2);
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    nn::Linear net(16, 12);
    {
      const NoGradGuard no_grad;
      net->to(kDouble);
      for (Tensor& p : net->parameters()) p.zero_();
    }
    DistributedDataParallel<nn::Linear> ddp(net, {.group = g});
    const auto state = std::make_shared<PowerSGDState>(
        PowerSGDOptions{.matrix_approximation_rank = 2, .start_powerSGD_iter = 3});
    ddp.register_comm_hook(powerSGD_hook(state));
    const Tensor wanted = numbers(16, 12, 77), x = numbers(40, 16, 7 + g->rank());
    double first = 0, last = 0;
    for (int i = 0; i < 150; ++i) {
      ddp.zero_grad();
      const Tensor apart = ddp(x) - x.matmul(wanted);
      const Tensor loss = (apart * apart).sum() * (1.0 / 40);
      loss.backward();
      const NoGradGuard no_grad;
      for (Tensor& p : net->parameters()) p.sub_(p.grad() * 0.3);
      if (i == 0) first = loss.item<double>();
      last = loss.item<double>();
    }
    require(last < 0.02 * first,
            tenon::detail::concat("a loss below ", 0.02 * first, ", got ", last));
    RANK_REQUIRE(state->iteration() == 150);
    results[g->rank()] = as_bytes(net->weight) + as_bytes(state->factors(0)[0]);
  })));
  CHECK((!results[0].empty() && results[0] == results[1]));
}

TEST_CASE("PowerSGD: a state from a checkpoint goes on as if there had been no end") {
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    const auto step = [&](const std::shared_ptr<PowerSGDState>& state, int i) {
      const GradBucket bucket = bucket_of({numbers(12, 14, 10 * i + g->rank())}, g);
      powerSGD_hook(state)(bucket)();
      return bucket.gradients[0];
    };
    const PowerSGDOptions options{.matrix_approximation_rank = 2, .start_powerSGD_iter = 2};
    const auto whole = started(options, g);
    for (int i = 0; i < 4; ++i) step(whole, i);
    std::map<std::string, Tensor> kept;
    for (const auto& [key, value] : whole->state_dict()) kept[key] = value.clone();
    RANK_REQUIRE(kept.size() == 6 && kept.contains("factors.0.0") && kept.contains("error.0"));

    const auto resumed = std::make_shared<PowerSGDState>(options);
    resumed->load_state_dict(kept);
    // One iteration with buckets that are still to be rebuilt, in full; it changes nothing.
    const Tensor mean = (numbers(12, 14, 90) + numbers(12, 14, 91)) * 0.5;
    RANK_REQUIRE(distance(step(resumed, 9), mean) < 1e-15);
    RANK_REQUIRE(resumed->iteration() == whole->iteration() + 1);
    for (int i = 4; i < 7; ++i) RANK_REQUIRE(distance(step(whole, i), step(resumed, i)) == 0);
    RANK_REQUIRE(resumed->numel_after() == whole->numel_after());

    const auto refuses = [&](const std::string& text) {
      const std::string error = error_of([&] { resumed->load_state_dict(kept); });
      require(error.find(text) != std::string::npos, text + " in: " + error);
    };
    kept["factors.0.2"] = kept["factors.0.0"];
    refuses("the state has no 'factors.0.1'");
    kept.erase("factors.0.2");
    kept["momentum"] = kept["error.0"];
    refuses("'momentum' of shape [168] is not what a state has");
    kept.erase("momentum");
    kept.erase("iteration");
    refuses("the state has no 'iteration'");
    RANK_REQUIRE(resumed->iteration() == whole->iteration() + 1);
  })));
}

TEST_CASE("PowerSGD: options that make no sense") {
  CHECK_THROWS_AS(PowerSGDState({.matrix_approximation_rank = 0}), ValueError);
  CHECK_THROWS_AS(PowerSGDState({.start_powerSGD_iter = 1}), ValueError);
  CHECK_THROWS_AS(PowerSGDState({.min_compression_rate = -1}), ValueError);
  CHECK_NOTHROW(
      PowerSGDState({.start_powerSGD_iter = 0, .use_error_feedback = false, .warm_start = false}));
  CHECK_THROWS_AS(powerSGD_hook(nullptr), ValueError);
}
