#pragma once

#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/optim/optimizer.h"
#include "runtime/serialization/location.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/training/optimizer_state.h"
#include "runtime/serialization/training/rng_state.h"
#include "runtime/serialization/training/scheduler_state.h"

namespace tenon::serialization {

/// How far a training is.
struct TrainingProgress {
  int64_t step = 0;   ///< of the optimizer, taken so far
  int64_t epoch = 0;  ///< that goes on, or begins next
  int64_t batch = 0;  ///< of that epoch, taken so far
  Value extra{};      ///< whatever else is to come back: a schedule, the best loss, ...
};

struct TrainingOptions {
  /// Checkpoints of this run to keep; those it saved earliest are removed. ValueError below 1.
  int keep = 3;
  /// Whether save() returns when everything has been copied, and writes in the background.
  bool asynchronous = false;
  /// The generator of the data loader, if not the default one. Its state is saved as well.
  std::optional<Generator> generator = std::nullopt;
  /// ValueError for the legacy format, which has no checksums to tell damage by.
  SaveOptions save = {};
  /// Where resume() loads to before model and optimizer take their parts: "cpu" for checkpoints of
  /// a machine with other devices.
  MapLocation map_location = {};
};

/// A folder of checkpoints of a training, "step-000000001200.pt" for one, each whole or not there.
/// A training that resumes goes on as if it had not stopped: model, optimizer, random numbers and
/// the order of the data are the same.
///
/// A run is what begins with one of these objects and goes on with those that resume it. Each
/// checkpoint says of which run it is and how many were saved to the folder before it: that, and
/// not its step, makes it older or newer than another. A run removes and replaces checkpoints of
/// its own alone; where another run's has the name, its own is "step-000000001200-2.pt".
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
  /// Makes the folder if its parent exists; OSError "[save] cannot make ..." else.
  explicit TrainingCheckpoints(std::string folder, TrainingOptions options = {});
  /// Waits for a save in the background. What went wrong with it goes to stderr unless wait() was
  /// called, which throws it.
  ~TrainingCheckpoints();
  TrainingCheckpoints(const TrainingCheckpoints&) = delete;
  TrainingCheckpoints& operator=(const TrainingCheckpoints&) = delete;

  void save(const nn::Module& model, optim::Optimizer& optimizer, const TrainingProgress& progress);
  /// Waits for a save in the background and throws what went wrong with it. save() does so for the
  /// one before.
  void wait();

  /// Restores the checkpoint that was saved last and is whole, and goes on with its run; nothing if
  /// there is none. Damaged files are passed over, see skipped(). Whatever else keeps the newest
  /// from being loaded is thrown: no permission, a device that is not there, another kind of file,
  /// a model or optimizer that it does not fit.
  std::optional<TrainingProgress> resume(nn::Module& model, optim::Optimizer& optimizer);
  /// The damaged files that resume() met, and what is wrong with them. They stay unless a
  /// checkpoint of the same name takes their place.
  const std::vector<std::string>& skipped() const { return skipped_; }

  /// Begins an epoch of a loader of tenon::data, or goes on with the one that was resumed, from
  /// batch `progress.batch` on.
  template <class Loader>
  auto begin(Loader& loader, const TrainingProgress& progress) {
    TENON_CHECK_VALUE(progress.batch >= 0, "[TrainingCheckpoints] expected a batch >= 0, got ",
                      progress.batch);
    auto it = loader.end();
    begin_epoch([&] { it = loader.begin(static_cast<size_t>(progress.batch)); });
    return it;
  }

  /// Paths of the checkpoints that are not damaged, of all runs, in the order they were saved in.
  std::vector<std::string> paths() const;

 private:
  /// States of the default generator and of the loader's own.
  Value rng_states() const;
  void set_rng_states(const Value& states) const;
  void begin_run();
  /// Calls `begin` with the random numbers that were next when the epoch began.
  void begin_epoch(const std::function<void()>& begin);
  std::string path_for(int64_t step) const;
  void add_saved(const std::string& path);

  std::string folder_;
  TrainingOptions options_;
  Value epoch_rng_;  ///< as the epoch began
  bool in_resumed_epoch_ = false;
  std::string run_;  ///< empty until the first save or resume()
  int64_t next_number_ = 0;
  std::vector<std::string> ours_;  ///< the run's checkpoints, oldest first
  std::set<std::string> others_;   ///< those of other runs
  std::future<void> pending_;
  std::string pending_path_;
  std::vector<std::string> skipped_;
};

}  // namespace tenon::serialization
