#include "runtime/serialization/training/training.h"

#include <cstdio>
#include <filesystem>
#include <random>

#include "runtime/serialization/io/folder.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/training/checkpoint_files.h"

namespace tenon::serialization {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kVersion = 1;

/// A name that no other run has.
std::string new_run() {
  std::random_device random;
  char text[17];
  std::snprintf(text, sizeof(text), "%08x%08x", random(), random());
  return text;
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
  TENON_CHECK_VALUE(options_.save.format == SaveOptions::Format::Zip,
                    "[TrainingCheckpoints] the legacy format has no checksums, which tell damage "
                    "when a training resumes; use the zip format");
  detail::make_folder(folder_, options_.save.durable);
}

TrainingCheckpoints::~TrainingCheckpoints() {
  try {
    wait();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon: warning: [TrainingCheckpoints] the last save failed: %s\n",
                 error.what());
  }
}

std::vector<std::string> TrainingCheckpoints::paths() const {
  std::vector<std::string> paths;
  for (const CheckpointFile& file : find_checkpoints(folder_).whole) paths.push_back(file.path);
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
  if (run_.empty()) begin_run();
  const Value parameters = Value::ordered_dict();
  for (const auto& item : model.state_dict()) parameters.set_item(item.key(), item.value());
  const Value checkpoint = Value::dict({{"tenon_training", kVersion},
                                        {"run", run_},
                                        {"number", next_number_},
                                        {"step", progress.step},
                                        {"epoch", progress.epoch},
                                        {"batch", progress.batch},
                                        {"model", parameters},
                                        {"optimizer", optimizer_state_dict(optimizer)},
                                        {"rng", rng_states()},
                                        {"epoch_rng", epoch_rng_},
                                        {"extra", progress.extra}});
  const std::string path = path_for(progress.step);
  if (!options_.asynchronous) {
    serialization::save(checkpoint, path, options_.save);
    return add_saved(path);
  }
  pending_ = save_async(checkpoint, path, options_.save);
  pending_path_ = path;
}

void TrainingCheckpoints::wait() {
  if (!pending_.valid()) return;
  pending_.get();
  add_saved(pending_path_);
}

/// Begins a run of its own, whose checkpoints are newer than all that are there.
void TrainingCheckpoints::begin_run() {
  const CheckpointFiles found = find_checkpoints(folder_);
  if (!found.whole.empty()) next_number_ = found.whole.back().number + 1;
  for (const CheckpointFile& file : found.whole) others_.insert(file.path);
  others_.insert(found.unknown.begin(), found.unknown.end());
  run_ = new_run();
}

/// Where a checkpoint goes: to a name that no other run's has.
std::string TrainingCheckpoints::path_for(int64_t step) const {
  for (int copy = 1;; ++copy) {
    std::string path = checkpoint_path(folder_, step, copy);
    if (!others_.contains(path)) return path;
  }
}

void TrainingCheckpoints::add_saved(const std::string& path) {
  ++next_number_;
  std::erase(ours_, path);
  ours_.push_back(path);
  while (ours_.size() > static_cast<size_t>(options_.keep)) {
    std::error_code ignored;
    fs::remove(ours_.front(), ignored);
    ours_.erase(ours_.begin());
  }
}

std::optional<TrainingProgress> TrainingCheckpoints::resume(nn::Module& model,
                                                            optim::Optimizer& optimizer) {
  wait();
  CheckpointFiles found = find_checkpoints(folder_);
  // Which is the newest cannot be told without those.
  if (found.reason) std::rethrow_exception(found.reason);
  skipped_ = std::move(found.damaged);
  const int64_t next = found.whole.empty() ? 0 : found.whole.back().number + 1;
  for (; !found.whole.empty(); found.whole.pop_back()) {
    const CheckpointFile& file = found.whole.back();
    Value checkpoint;
    try {
      LoadOptions options;
      options.weights_only = false;
      options.map_location = options_.map_location;
      checkpoint = load(file.path, options);
    } catch (const Error& error) {
      if (!is_damaged(file.path)) throw;
      skipped_.emplace_back(error.what());
      continue;
    }
    TENON_CHECK(checkpoint["tenon_training"].to_int() == kVersion, "[load] '", file.path,
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
    run_ = file.run.empty() ? new_run() : file.run;
    next_number_ = next;
    ours_.clear();
    others_.clear();
    for (const CheckpointFile& other : found.whole) {
      if (other.run == file.run) {
        ours_.push_back(other.path);
      } else {
        others_.insert(other.path);
      }
    }
    return progress;
  }
  return std::nullopt;
}

void TrainingCheckpoints::begin_epoch(const std::function<void()>& begin) {
  if (!std::exchange(in_resumed_epoch_, false)) {
    epoch_rng_ = rng_states();
    return begin();
  }
  // The order of the data comes from the numbers that were next when the epoch began.
  const Value now = rng_states();
  set_rng_states(epoch_rng_);
  begin();
  set_rng_states(now);
}

}  // namespace tenon::serialization
