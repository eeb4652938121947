#include "runtime/serialization/training/training.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>

#include "runtime/nn/modules/linear.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"
#include "runtime/serialization/load.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/rand.h"
#include "tenon/ops/randn.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
namespace fs = std::filesystem;

namespace {

/// Ten points of a line.
class Points : public data::Dataset {
 public:
  int64_t size() const override { return 10; }
  data::Example get(int64_t index) const override {
    const double x = static_cast<double>(index) / 10;
    return {vector_of({x}), vector_of({3 * x})};
  }
};

/// A model whose weights, and all random numbers after them, come from a seed.
struct Model {
  explicit Model(uint64_t seed = 7) : linear((manual_seed(seed), nn::Linear(1, 1))) {}
  nn::Linear linear;
  optim::Adam optimizer{linear->parameters(), optim::AdamOptions(0.1)};
};

/// Trains up to `steps` steps and saves after each; the losses are those of the steps taken.
std::vector<double> train(Model& m, const std::string& folder, int64_t steps,
                          const TrainingOptions& options) {
  const Points points;
  data::DataLoader loader(points, data::DataLoaderOptions(3).shuffle(true));
  TrainingCheckpoints checkpoints(folder, options);
  TrainingProgress now = checkpoints.resume(*m.linear, m.optimizer).value_or(TrainingProgress());
  std::vector<double> losses;
  for (; now.step < steps; ++now.epoch, now.batch = 0) {
    for (auto it = checkpoints.begin(loader, now); it != loader.end() && now.step < steps; ++it) {
      const Tensor noise = randn({1}, TensorOptions(kFloat)).mul(0.01);
      const Tensor loss = (m.linear(it->data) - it->target + noise).pow(2).mean();
      m.optimizer.zero_grad();
      loss.backward();
      m.optimizer.step();
      losses.push_back(loss.item<double>());
      ++now.step, ++now.batch;
      now.extra = Value::dict({{"loss", losses.back()}});
      checkpoints.save(*m.linear, m.optimizer, now);
    }
  }
  checkpoints.wait();
  return losses;
}

}  // namespace

TEST_CASE("training: a resumed training goes on as if it had not stopped") {
  const TemporaryFolder folder;
  Model reference;
  const std::vector<double> expected = train(reference, folder / "whole", 11, {});
  for (const int64_t stop : {1, 3, 4, 6, 10}) {
    for (const bool asynchronous : {false, true}) {
      const std::string run = folder / ("stop" + std::to_string(stop) + (asynchronous ? "a" : "s"));
      std::vector<double> losses;
      {
        Model m;
        losses = train(m, run, stop, {.asynchronous = asynchronous});
      }
      Model other(99);
      const auto rest = train(other, run, 11, {.asynchronous = asynchronous});
      losses.insert(losses.end(), rest.begin(), rest.end());
      CHECK(losses == expected);
      CHECK(values(other.linear->weight) == values(reference.linear->weight));
    }
  }
}

TEST_CASE("training: the random numbers of devices go on too") {
  const TemporaryFolder folder;
  Model m;
  // Its state alone; there need not be such a device.
  const Generator generator = default_generator(Device("cuda:1"));
  generator->seed = 5;
  generator->offset = 12;
  TrainingCheckpoints checkpoints(folder / "run", {});
  checkpoints.save(*m.linear, m.optimizer, {});
  manual_seed(3);
  REQUIRE(generator->offset == 0);
  REQUIRE(checkpoints.resume(*m.linear, m.optimizer));
  CHECK(generator->seed == 5);
  CHECK(generator->offset == 12);
}

TEST_CASE("training: the last checkpoints are kept, the newest whole one is resumed") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  Model m;
  train(m, run, 9, {.keep = 3});
  const std::vector<std::string> paths = TrainingCheckpoints(run).paths();
  REQUIRE(paths.size() == 3);
  CHECK(paths.back().ends_with("step-000000000009.pt"));

  write_bytes(paths[2], bytes_of(paths[2]).substr(0, 3000));
  write_bytes(run + "/step-000000000010.pt", "");
  write_bytes(run + "/step-x.pt", "");
  TrainingCheckpoints checkpoints(run);
  const auto progress = checkpoints.resume(*m.linear, m.optimizer);
  REQUIRE(progress);
  CHECK(progress->step == 8);
  CHECK(progress->epoch == 1);
  CHECK(progress->batch == 4);
  CHECK(progress->extra["loss"].to_double() > 0);
  CHECK(checkpoints.skipped().size() == 2);

  const TrainingCheckpoints none(folder / "none");
  CHECK(TrainingCheckpoints(folder / "none").resume(*m.linear, m.optimizer) == std::nullopt);
  CHECK_THROWS_AS(TrainingCheckpoints(folder / "none", {.keep = 0}), ValueError);
  CHECK_THROWS_WITH(TrainingCheckpoints(folder / "no/run"), Catch::Contains("cannot make"));
  CHECK_THROWS_AS(checkpoints.save(*m.linear, m.optimizer, {.step = -1}), ValueError);
}

TEST_CASE("training: another model is an error") {
  const TemporaryFolder folder;
  Model m;
  train(m, folder / "run", 1, {});
  nn::Linear other(2, 1);
  optim::Adam optimizer(other->parameters());
  TrainingCheckpoints checkpoints(folder / "run");
  CHECK_THROWS_WITH(checkpoints.resume(*other, optimizer), Catch::Contains("size mismatch"));
}

TEST_CASE("optimizer state has PyTorch's form") {
  Model m;
  const Tensor loss = m.linear(arange(2, TensorOptions(kFloat)).reshape({2, 1})).sum();
  loss.backward();
  m.optimizer.step();
  const Value state = optimizer_state_dict(m.optimizer);
  const Value& group = state["param_groups"][size_t{0}];
  CHECK(group["lr"].to_double() == 0.1);
  CHECK(group["betas"] == Value::tuple({0.9, 0.999}));
  CHECK(group["amsgrad"] == Value(false));
  CHECK(group["params"] == Value::list({0, 1}));
  const Value& first = state["state"].at(Value(0));
  CHECK(first["step"].to_tensor().item<double>() == 1);
  CHECK(first["exp_avg"].to_tensor().sizes() == m.linear->weight.sizes());
  CHECK(first.size() == 3);

  optim::Adam other(m.linear->parameters(), optim::AdamOptions(5));
  load_optimizer_state_dict(other, state);
  CHECK(other.options().lr() == 0.1);
  CHECK(other.steps_of(m.linear->weight) == 1);
  CHECK(optimizer_state_dict(other) == state);
  optim::Adam one({m.linear->weight});
  CHECK_THROWS_AS(load_optimizer_state_dict(one, state), ValueError);

  // What cannot be taken whole is not taken in part.
  const auto refused = [&](const char* what, const Value& by) {
    const Value before = optimizer_state_dict(other);
    std::stringstream copy;  // so that `state` stays as it is
    save(state, copy);
    const Value changed = load(copy);
    const Value& group_of_it = changed["param_groups"][size_t{0}];
    (group_of_it.contains(what) ? group_of_it : changed["state"].at(Value(1))).set_item(what, by);
    group_of_it.set_item("lr", 7.0);
    CHECK_THROWS_AS(load_optimizer_state_dict(other, changed), Error);
    CHECK(other.options().lr() == 0.1);
    CHECK(optimizer_state_dict(other) == before);
  };
  refused("betas", Value::tuple({0.5}));
  refused("amsgrad", "yes");
  refused("step", -1);
  refused("step", 1.5);
  refused("step", std::nan(""));
  refused("step", 1e300);
  refused("exp_avg", vector_of({1, 2, 3}));

  optim::SGD sgd(m.linear->parameters(), optim::SGDOptions(0.5).momentum(0.9));
  sgd.step();
  optim::SGD copy(m.linear->parameters(), optim::SGDOptions(1));
  load_optimizer_state_dict(copy, optimizer_state_dict(sgd));
  CHECK(copy.options().momentum() == 0.9);
  CHECK(optimizer_state_dict(copy) == optimizer_state_dict(sgd));
}

TEST_CASE("states of generators") {
  manual_seed(5);
  for (const int64_t draws : {0, 1, 5, 623, 624, 625, 1000}) {
    if (draws > 0) rand({draws}, TensorOptions(kFloat));
    const Tensor state = rng_state();
    const auto before = values(rand({700}, TensorOptions(kFloat)));
    const auto normal = values(randn({3}, TensorOptions(kFloat)));
    set_rng_state(state);
    CHECK(values(rand({700}, TensorOptions(kFloat))) == before);
    CHECK(values(randn({3}, TensorOptions(kFloat))) == normal);
  }
  CHECK_THROWS_AS(set_rng_state(arange(3, TensorOptions(kByte))), ValueError);
  CHECK_THROWS_AS(set_rng_state(arange(3, TensorOptions(kFloat))), TypeError);
  CHECK_THROWS_AS(set_rng_state(Tensor(empty({5056}, kByte, kCPU)).zero_()), ValueError);
}

TEST_CASE("a save in the background writes what was there when it began") {
  const TemporaryFolder folder;
  Tensor t = arange(100000, TensorOptions(kFloat));
  const Value value = Value::dict({{"whole", t}, {"part", t.slice(0, 10, 20, 1)}});
  for (const bool compact : {false, true}) {
    SaveOptions options;
    options.compact = compact;
    const Tensor expected = t.clone();
    auto done = save_async(value, folder / "x.pt", options);
    t.add_(1);
    done.get();
    const Value back = load(folder / "x.pt");
    CHECK(values(back["whole"].to_tensor()) == values(expected));
    CHECK(back["part"].to_tensor().is_alias_of(back["whole"].to_tensor()));
  }
  CHECK_THROWS_WITH(save_async(value, folder / "no/x.pt"), Catch::Contains("does not exist"));
  CHECK(folder.files() == 1);
}
