#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/data_loader.h"
#include "runtime/nn/module.h"
#include "runtime/optim/optimizer.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/training/optimizer_state.h"
#include "runtime/serialization/training/rng_state.h"

namespace tenon::serialization {

/// How far a training is.
struct TrainingProgress {
  int64_t step = 0;   ///< of the optimizer, taken so far
  int64_t epoch = 0;  ///< that goes on, or begins next
  int64_t batch = 0;  ///< of that epoch, taken so far
  Value extra{};      ///< whatever else is to come back: a schedule, the best loss, ...
};

struct TrainingOptions {
  /// Checkpoints to keep; the oldest are removed. ValueError below 1.
  int keep = 3;
  /// Whether save() returns when everything has been copied, and writes in the background.
  bool asynchronous = false;
  /// The generator of the data loader, if not the default one. Its state is saved as well.
  std::optional<Generator> generator = std::nullopt;
  SaveOptions save = {};
};

/// A folder of checkpoints of a training, "step-000000001200.pt" for one, each whole or not there.
/// A training that resumes goes on as if it had not stopped: model, optimizer, random numbers and
/// the order of the data are the same.
///
///     TrainingCheckpoints checkpoints("run1", {.keep = 3});
///     TrainingProgress now = checkpoints.resume(model, optimizer).value_or(TrainingProgress());
///     for (; now.epoch < epochs; ++now.epoch, now.batch = 0) {
///       for (auto it = checkpoints.begin(loader, now); it != loader.end(); ++it) {
///         ...
///         ++now.step, ++now.batch;
///         if (now.step % 100 == 0) checkpoints.save(model, optimizer, now);
///       }
///     }
///
/// Each file is one that torch.load reads: a dict with "model", "optimizer", "rng" and so on.
class TENON_API TrainingCheckpoints {
 public:
  /// Makes the folder if its parent exists.
  explicit TrainingCheckpoints(std::string folder, TrainingOptions options = {});
  /// Waits for a save in the background; an error of it is lost unless wait() was called.
  ~TrainingCheckpoints();
  TrainingCheckpoints(const TrainingCheckpoints&) = delete;
  TrainingCheckpoints& operator=(const TrainingCheckpoints&) = delete;

  void save(const nn::Module& model, optim::Optimizer& optimizer, const TrainingProgress& progress);
  /// Waits for a save in the background and throws what went wrong with it. save() does so for the
  /// one before.
  void wait();

  /// Restores the newest checkpoint that is whole; nothing if there is none. Damaged files are
  /// passed over, see skipped(). What does not fit model or optimizer is an error of theirs.
  std::optional<TrainingProgress> resume(nn::Module& model, optim::Optimizer& optimizer);
  /// Why files newer than the resumed one were passed over.
  const std::vector<std::string>& skipped() const { return skipped_; }

  /// Begins an epoch, or goes on with the one that was resumed, from batch `progress.batch` on.
  data::DataLoader::Iterator begin(const data::DataLoader& loader,
                                   const TrainingProgress& progress);

  /// Paths of the checkpoints, oldest first.
  std::vector<std::string> paths() const;

 private:
  /// States of the default generator and of the loader's own.
  Value rng_states() const;
  void set_rng_states(const Value& states) const;
  void remove_old() const;

  std::string folder_;
  TrainingOptions options_;
  Value epoch_rng_;  ///< as the epoch began
  bool in_resumed_epoch_ = false;
  std::future<void> pending_;
  std::vector<std::string> skipped_;
};

}  // namespace tenon::serialization
