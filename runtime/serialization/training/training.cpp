#include "runtime/serialization/training/training.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>

#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/load.h"

namespace tenon::serialization {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".pt";
constexpr int64_t kVersion = 1;

std::string path_of(const std::string& folder, int64_t step) {
  char name[40];
  std::snprintf(name, sizeof(name), "step-%012lld.pt", static_cast<long long>(step));
  return (fs::path(folder) / name).string();
}

/// The step in a checkpoint's name; nothing for other names.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const char* begin = name.data() + kPrefix.size();
  const char* end = name.data() + name.size() - kSuffix.size();
  int64_t step = 0;
  const auto [at, error] = std::from_chars(begin, end, step);
  if (begin >= end || error != std::errc() || at != end || step < 0) return std::nullopt;
  return step;
}

/// The checkpoints of a folder by their steps.
std::map<int64_t, std::string> checkpoints_in(const std::string& folder) {
  std::map<int64_t, std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (const auto step = step_of(entry.path().filename().string()))
      found[*step] = entry.path().string();
  return found;
}

nn::StateDict state_dict_of(const Value& dict) {
  nn::StateDict state("Tensor");
  for (const auto& [key, tensor] : dict.entries()) state.set(key.to_string(), tensor.to_tensor());
  return state;
}

}  // namespace

TrainingCheckpoints::TrainingCheckpoints(std::string folder, TrainingOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  TENON_CHECK_VALUE(options_.keep >= 1, "[TrainingCheckpoints] keep must be at least 1, got ",
                    options_.keep);
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) {
    throw OSError(error.value(),
                  tenon::detail::concat("[save] cannot make '", folder_, "': ", error.message()));
  }
}

TrainingCheckpoints::~TrainingCheckpoints() {
  if (pending_.valid()) pending_.wait();
}

std::vector<std::string> TrainingCheckpoints::paths() const {
  std::vector<std::string> paths;
  for (const auto& [step, path] : checkpoints_in(folder_)) paths.push_back(path);
  return paths;
}

Value TrainingCheckpoints::rng_states() const {
  const Value devices = Value::dict();
  for (const Generator& generator : default_generators()) {
    if (!generator.device().is_cpu())
      devices.set_item(generator.device().str(), rng_state(generator));
  }
  const Value states = Value::dict({{"default", rng_state()}, {"devices", devices}});
  if (options_.generator) states.set_item("loader", rng_state(*options_.generator));
  return states;
}

void TrainingCheckpoints::set_rng_states(const Value& states) const {
  set_rng_state(states["default"].to_tensor());
  if (states.contains("devices")) {
    for (const auto& [device, state] : states["devices"].entries())
      set_rng_state(state.to_tensor(), default_generator(Device(device.to_string())));
  }
  if (options_.generator) set_rng_state(states["loader"].to_tensor(), *options_.generator);
}

void TrainingCheckpoints::save(const nn::Module& model, optim::Optimizer& optimizer,
                               const TrainingProgress& progress) {
  TENON_CHECK_VALUE(progress.step >= 0, "[TrainingCheckpoints] a step must not be negative, got ",
                    progress.step);
  wait();
  const Value parameters = Value::ordered_dict();
  for (const auto& item : model.state_dict()) parameters.set_item(item.key(), item.value());
  const Value checkpoint = Value::dict({{"tenon_training", kVersion},
                                        {"step", progress.step},
                                        {"epoch", progress.epoch},
                                        {"batch", progress.batch},
                                        {"model", parameters},
                                        {"optimizer", optimizer_state_dict(optimizer)},
                                        {"rng", rng_states()},
                                        {"epoch_rng", epoch_rng_},
                                        {"extra", progress.extra}});
  const std::string path = path_of(folder_, progress.step);
  if (!options_.asynchronous) {
    serialization::save(checkpoint, path, options_.save);
    return remove_old();
  }
  pending_ = save_async(checkpoint, path, options_.save);
}

void TrainingCheckpoints::wait() {
  if (!pending_.valid()) return;
  pending_.get();
  remove_old();
}

void TrainingCheckpoints::remove_old() const {
  const std::vector<std::string> all = paths();
  std::error_code ignored;
  for (size_t i = 0; i + static_cast<size_t>(options_.keep) < all.size(); ++i)
    fs::remove(all[i], ignored);
}

std::optional<TrainingProgress> TrainingCheckpoints::resume(nn::Module& model,
                                                            optim::Optimizer& optimizer) {
  wait();
  skipped_.clear();
  const auto found = checkpoints_in(folder_);
  for (auto it = found.rbegin(); it != found.rend(); ++it) {
    Value checkpoint;
    try {
      LoadOptions options;
      options.weights_only = false;
      checkpoint = load(it->second, options);
      TENON_CHECK(checkpoint.is_dict() && checkpoint.contains("tenon_training"), "[load] '",
                  it->second, "' is no checkpoint of a training");
    } catch (const Error& error) {
      skipped_.push_back(error.what());
      continue;
    }
    TENON_CHECK(checkpoint["tenon_training"].to_int() == kVersion, "[load] '", it->second,
                "' has version ", checkpoint["tenon_training"], ", and version ", kVersion,
                " is known");
    TrainingProgress progress;
    progress.step = checkpoint["step"].to_int();
    progress.epoch = checkpoint["epoch"].to_int();
    progress.batch = checkpoint["batch"].to_int();
    progress.extra = checkpoint["extra"];
    model.load_state_dict(state_dict_of(checkpoint["model"]));
    load_optimizer_state_dict(optimizer, checkpoint["optimizer"]);
    set_rng_states(checkpoint["rng"]);
    epoch_rng_ = checkpoint["epoch_rng"];
    in_resumed_epoch_ = progress.batch > 0 && !epoch_rng_.is_none();
    return progress;
  }
  return std::nullopt;
}

data::DataLoader::Iterator TrainingCheckpoints::begin(const data::DataLoader& loader,
                                                      const TrainingProgress& progress) {
  if (!std::exchange(in_resumed_epoch_, false)) {
    epoch_rng_ = rng_states();
    return loader.begin(progress.batch);
  }
  // The order of the data comes from the numbers that were next when the epoch began.
  const Value now = rng_states();
  set_rng_states(epoch_rng_);
  auto it = loader.begin(progress.batch);
  set_rng_states(now);
  return it;
}

}  // namespace tenon::serialization
