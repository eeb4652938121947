#pragma once

#include <cstdint>
#include <vector>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

/// Times `factor` when a metric has not become better for more than `patience` epochs. Python's
/// ReduceLROnPlateau. The optimizer must outlive the scheduler.
class TENON_API ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode : uint8_t { min, max };
  /// Better by more than the fraction `threshold` of the best metric, or by more than `threshold`.
  enum ThresholdMode : uint8_t { rel, abs };

  /// `min_lr`: the least rate of each group, or one for all. ValueError for a factor of 1 and more
  /// or another number of least rates.
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min,
                                      double factor = 0.1, int64_t patience = 10,
                                      double threshold = 1e-4, ThresholdMode threshold_mode = rel,
                                      int64_t cooldown = 0, std::vector<double> min_lr = {},
                                      double eps = 1e-8);

  void step(double metric);

  /// What a file keeps, under the names of Python's state dict.
  struct State {
    double best;
    int64_t num_bad_epochs = 0, cooldown_counter = 0, last_epoch = 0;
  };
  const State& state() const { return state_; }
  /// ValueError for a negative count.
  void set_state(const State& state);
  /// One for each parameter group.
  std::vector<double> get_current_lrs() const;

 private:
  bool is_better(double metric) const;
  void reduce();

  Optimizer& optimizer_;
  SchedulerMode mode_;
  double factor_;
  int64_t patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int64_t cooldown_;
  std::vector<double> min_lr_;
  double eps_;
  State state_;
};

using ReduceLROnPlateau = ReduceLROnPlateauScheduler;

}  // namespace tenon::optim
