#include "runtime/serialization/training/training.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "runtime/data/data.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/nadam.h"
#include "runtime/optim/rmsprop.h"
#include "runtime/optim/sgd.h"
#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/zip/zip_reader.h"
#include "runtime/serialization/zip/zip_writer.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/full.h"
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
class Points : public data::datasets::Dataset<Points> {
 public:
  std::optional<size_t> size() const override { return 10; }
  data::Example<> get(size_t index) override {
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
  const auto loader = data::make_data_loader(Points().map(data::transforms::Stack<>()), 3);
  TrainingCheckpoints checkpoints(folder, options);
  TrainingProgress now = checkpoints.resume(*m.linear, m.optimizer).value_or(TrainingProgress());
  std::vector<double> losses;
  for (; now.step < steps; ++now.epoch, now.batch = 0) {
    for (auto it = checkpoints.begin(*loader, now); it != loader->end() && now.step < steps; ++it) {
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

namespace {

/// Saves checkpoints of these steps.
void save_steps(TrainingCheckpoints& checkpoints, Model& m, const std::vector<int64_t>& steps) {
  for (const int64_t step : steps) checkpoints.save(*m.linear, m.optimizer, {.step = step});
  checkpoints.wait();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

using namespace std::string_literals;
using Names = std::vector<std::string>;

/// Step of what a new object resumes; -1 if it finds nothing.
int64_t resumed_step(const std::string& folder) {
  Model m;
  const auto progress = TrainingCheckpoints(folder).resume(*m.linear, m.optimizer);
  return progress ? progress->step : -1;
}

const std::string kStep10 = "step-000000000010.pt", kStep20 = "step-000000000020.pt",
                  kStep30 = "step-000000000030.pt", kStep200 = "step-000000000200.pt",
                  kStep300 = "step-000000000300.pt";

}  // namespace

TEST_CASE("training: damaged checkpoints do not count as kept") {
  for (const bool asynchronous : {false, true}) {
    for (const bool data_alone : {false, true}) {
      const TemporaryFolder folder;
      const std::string run = folder / "run";
      Model m;
      {
        TrainingCheckpoints first(run, {.keep = 2});
        save_steps(first, m, {200, 300});
      }
      for (const std::string& name : {kStep200, kStep300}) {
        std::string bytes = bytes_of(run + "/" + name);
        if (data_alone) {
          const float weight = m.linear->weight.item<float>();
          const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&weight), 4));
          REQUIRE(at != bytes.npos);
          bytes[at] ^= 1;
        } else {
          bytes.resize(bytes.size() / 2);
        }
        write_bytes(run + "/" + name, bytes);
      }
      TrainingCheckpoints checkpoints(run, {.keep = 2, .asynchronous = asynchronous});
      CHECK(checkpoints.resume(*m.linear, m.optimizer) == std::nullopt);
      CHECK(checkpoints.skipped().size() == 2);
      for (const int64_t step : {10, 20, 30}) {
        save_steps(checkpoints, m, {step});
        CHECK(resumed_step(run) == step);
      }
      CHECK(names_in(run) == Names{kStep20, kStep30, kStep200, kStep300});
    }
  }
}

TEST_CASE("training: a run keeps its own checkpoints and leaves others' alone") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  Model m;
  {
    TrainingCheckpoints first(run, {.keep = 2});
    save_steps(first, m, {20, 300});
  }
  const std::string theirs = bytes_of(run + "/" + kStep20);
  {
    TrainingCheckpoints second(run, {.keep = 2});
    save_steps(second, m, {10, 20, 30});
    CHECK(bytes_of(run + "/" + kStep20) == theirs);
    CHECK(names_in(run) == Names{"step-000000000020-2.pt", kStep20, kStep30, kStep300});
    CHECK(second.paths() == Names{run + "/" + kStep20, run + "/" + kStep300,
                                  run + "/step-000000000020-2.pt", run + "/" + kStep30});
  }
  // What was saved last is what goes on, not the highest step.
  CHECK(resumed_step(run) == 30);
  TrainingCheckpoints third(run, {.keep = 2});
  REQUIRE(third.resume(*m.linear, m.optimizer)->step == 30);
  save_steps(third, m, {40});
  CHECK(names_in(run) == Names{kStep20, kStep30, "step-000000000040.pt", kStep300});
  // The same step again replaces the run's own.
  save_steps(third, m, {30});
  CHECK(names_in(run) == Names{kStep20, kStep30, "step-000000000040.pt", kStep300});
  CHECK(resumed_step(run) == 30);
}

TEST_CASE("training: a run that went back does not lose what it saves then") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  Model m;
  {
    TrainingCheckpoints first(run, {.keep = 3});
    save_steps(first, m, {10, 200, 300});
  }
  for (const std::string& name : {kStep200, kStep300}) write_bytes(run + "/" + name, "");
  TrainingCheckpoints checkpoints(run, {.keep = 3});
  REQUIRE(checkpoints.resume(*m.linear, m.optimizer)->step == 10);
  save_steps(checkpoints, m, {20, 30});
  CHECK(names_in(run) == Names{kStep10, kStep20, kStep30, kStep200, kStep300});
  save_steps(checkpoints, m, {200});
  CHECK(names_in(run) == Names{kStep20, kStep30, kStep200, kStep300});
  CHECK(resumed_step(run) == 200);
}

TEST_CASE("training: what keeps a checkpoint from being loaded is told unless it is damage") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  Model m;
  TrainingCheckpoints checkpoints(run);
  save_steps(checkpoints, m, {10, 20});
  const std::string path = run + "/" + kStep20;
  const auto error = [&] {
    return error_of([&] { TrainingCheckpoints(run).resume(*m.linear, m.optimizer); });
  };
  CHECK(error() == "no error");
  // With another pickle, whose checksum is right.
  const auto rewrite = [](const std::string& file, const auto& change) {
    const FileSource source(file);
    const ZipReader zip(source);
    std::string pickle = zip.read("data.pkl");
    change(pickle);
    FileSink sink(file);
    ZipWriter writer(sink, zip.archive());
    for (const auto& record : zip.records())
      writer.add(record.name, record.name == "data.pkl" ? pickle : zip.read(record.name));
    writer.finish();
    sink.commit();
  };

  SECTION("a device that is not there") {
    // Its storages are tagged as those of a backend that this program has not.
    rewrite(path, [](std::string& pickle) {
      for (size_t at = 0; (at = pickle.find("X\3\0\0\0cpu"s, at)) != pickle.npos;)
        pickle.replace(at, 8, "X\3\0\0\0abc"s);
    });
    CHECK_THAT(error(), Catch::Contains("don't know how to restore data location") &&
                            Catch::Contains("abc"));
    TrainingCheckpoints elsewhere(run, {.map_location = "cpu"});
    CHECK(elsewhere.resume(*m.linear, m.optimizer)->step == 20);
  }
  SECTION("no permission") {
    fs::remove(path);
    fs::create_symlink(path, path);  // which not even the superuser can open
    CHECK_THAT(error(), Catch::Contains("cannot open '" + path));
  }
  SECTION("another kind of file") {
    save(Value::dict({{"weights", 1}}), path);
    CHECK_THAT(error(), Catch::Contains("is no checkpoint of a training"));
  }
  SECTION("a folder that cannot be read") {
    fs::remove_all(run);
    CHECK_THAT(error_of([&] { checkpoints.resume(*m.linear, m.optimizer); }),
               Catch::Contains("cannot read the folder '" + run));
  }
  SECTION("a checkpoint of a later version") {
    rewrite(path, [](std::string& pickle) {
      const std::string key = "tenon_training";
      const size_t at = pickle.find("K\1"s, pickle.find(key));
      REQUIRE(at < pickle.find(key) + 24);
      pickle[at + 1] = 2;
    });
    CHECK_THAT(error(), Catch::Contains("has version 2"));
  }
  // What cannot be resumed is neither replaced nor removed.
  const auto is_there = [&] { return fs::symlink_status(path).type() != fs::file_type::not_found; };
  if (!is_there()) return;
  TrainingCheckpoints other(run, {.keep = 1});
  save_steps(other, m, {20, 30});
  CHECK(is_there());
}

TEST_CASE("training: the legacy format is refused, for it has no checksums") {
  const TemporaryFolder folder;
  TrainingOptions options;
  options.save.format = SaveOptions::Format::Legacy;
  CHECK_THROWS_AS(TrainingCheckpoints(folder / "run", options), ValueError);
  CHECK(folder.files() == 0);
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
  CHECK(other.param_groups()[0].options().get_lr() == 0.1);
  const auto& kept = *other.state().at(m.linear->weight.unsafe_impl());
  CHECK(static_cast<const optim::AdamParamState&>(kept).step() == 1);
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
    CHECK(other.param_groups()[0].options().get_lr() == 0.1);
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
  CHECK(static_cast<optim::SGDOptions&>(copy.param_groups()[0].options()).momentum() == 0.9);
  CHECK(optimizer_state_dict(copy) == optimizer_state_dict(sgd));
}

TEST_CASE("what an optimizer keeps follows the options of the file, numbers included") {
  Model m;
  const auto learn = [&](optim::Optimizer& optimizer) {
    optimizer.zero_grad();
    m.linear(arange(2, TensorOptions(kFloat)).reshape({2, 1})).sum().backward();
    optimizer.step();
  };
  const std::vector<Tensor> parameters = m.linear->parameters();
  optim::RMSprop rmsprop(parameters, optim::RMSpropOptions().centered(true)), other(parameters);
  learn(rmsprop);
  const Value state = optimizer_state_dict(rmsprop);
  CHECK(state["state"].at(Value(0)).contains("grad_avg"));
  CHECK_FALSE(state["state"].at(Value(0)).contains("momentum_buffer"));
  load_optimizer_state_dict(other, state);
  CHECK(static_cast<optim::RMSpropOptions&>(other.param_groups()[0].options()).centered());
  CHECK(optimizer_state_dict(other) == state);

  optim::NAdam nadam(parameters), again(parameters, optim::NAdamOptions(1));
  learn(nadam);
  const Value kept = optimizer_state_dict(nadam);
  CHECK(kept["state"].at(Value(0))["mu_product"].to_tensor().item<double>() ==
        Approx(0.9 * (1 - 0.5 * std::pow(0.96, 4e-3))));
  load_optimizer_state_dict(again, kept);
  CHECK(optimizer_state_dict(again) == kept);
  // Without its number a state is no state.
  CHECK_THROWS_AS(load_optimizer_state_dict(again, state), Error);
  CHECK(optimizer_state_dict(again) == kept);
}

TEST_CASE("files of optimizers from before their groups had options") {
  // What C++ wrote then: counts of SGD's steps, numbers of states in double, no new options.
  const auto old_file = [](const Value& state, const Value& options) {
    const Value group = options;
    group.set_item("params", Value::list({0}));
    return Value::dict(
        {{"state", Value::dict({{0, state}})}, {"param_groups", Value::list({group})}});
  };
  const auto number = [](double v) { return full({}, v, TensorOptions(kDouble)); };
  const auto step = [](optim::Optimizer& optimizer, Tensor p) {
    p.mutable_grad() = vector_of({1, -1}, kDouble);
    optimizer.step();
    return values(p);
  };
  Tensor p = vector_of({1, 2}, kDouble);
  p.requires_grad_();
  optim::SGD sgd({p}, optim::SGDOptions(9).momentum(0.9));
  load_optimizer_state_dict(
      sgd, old_file(Value::dict({{"step", full({}, 3, TensorOptions(kFloat))},
                                 {"momentum_buffer", vector_of({2, 4}, kDouble)}}),
                    Value::dict({{"lr", 0.5}, {"momentum", 0.5}, {"nesterov", false}})));
  CHECK(step(sgd, p) == std::vector<double>{0, 1.5});

  optim::NAdam nadam({p}, {});
  load_optimizer_state_dict(
      nadam, old_file(Value::dict({{"step", full({}, 3, TensorOptions(kFloat))},
                                   {"mu_product", number(0.25)},
                                   {"exp_avg", vector_of({0, 0}, kDouble)},
                                   {"exp_avg_sq", vector_of({1, 1}, kDouble)}}),
                      Value::dict({{"lr", 0.5}, {"betas", Value::tuple({0.5, 0.5})}})));
  step(nadam, p);
  const auto& kept = static_cast<optim::NAdamParamState&>(*nadam.state().at(p.unsafe_impl()));
  CHECK(kept.step() == 4);
  CHECK(kept.mu_product().item<double>() ==
        Approx(0.25 * 0.5 * (1 - 0.5 * std::pow(0.96, 4 * 4e-3))));
}

TEST_CASE("groups keep their own options in files") {
  const auto made = [](double first, double second) {
    Tensor p = vector_of({1, 2}, kDouble), q = vector_of({3}, kDouble);
    for (const Tensor& t : {p, q}) t.requires_grad_();
    std::vector<optim::OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<Tensor>{p}, std::make_unique<optim::AdamOptions>(first));
    groups.emplace_back(std::vector<Tensor>{q}, std::make_unique<optim::AdamOptions>(second));
    return std::make_unique<optim::Adam>(groups);
  };
  const auto ours = made(0.1, 0.2), other = made(5, 6);
  for (optim::OptimizerParamGroup& group : ours->param_groups())
    for (Tensor& p : group.params()) p.mutable_grad() = p.detach() * 2;
  ours->step();
  const Value state = optimizer_state_dict(*ours);
  load_optimizer_state_dict(*other, state);
  CHECK(other->param_groups()[0].options().get_lr() == 0.1);
  CHECK(other->param_groups()[1].options().get_lr() == 0.2);
  CHECK(optimizer_state_dict(*other) == state);
  // A mistake in the second group leaves the first as it was.
  std::stringstream copy;
  save(state, copy);
  const Value changed = load(copy);
  changed["param_groups"][size_t{0}].set_item("lr", 7.0);
  changed["param_groups"][size_t{1}].set_item("lr", "fast");
  CHECK_THROWS_AS(load_optimizer_state_dict(*other, changed), TypeError);
  CHECK(optimizer_state_dict(*other) == state);
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
