#pragma once

#include <cstdint>
#include <vector>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

/// Changes the learning rates of an optimizer's groups after each epoch. The optimizer must outlive
/// the scheduler.
class TENON_API LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Error if get_lrs() gives another number of rates than there are groups.
  void step();

  /// What a file keeps, under the names of Python's state dict.
  struct State {
    std::vector<double> base_lrs;  ///< the rates at construction, one for each group
    int64_t last_epoch = 0;
  };
  State state() const;
  /// ValueError for another number of rates than there are groups, or an epoch before the first.
  void set_state(State state);
  std::vector<double> get_current_lrs() const;

 protected:
  /// The rates after this step(), one for each group. `step_count_` steps were taken before.
  virtual std::vector<double> get_lrs() = 0;
  /// Python's last_epoch before the first step().
  virtual int64_t first_epoch() const { return 0; }
  /// The current rates, each times `factor`.
  std::vector<double> scaled(double factor) const;
  /// The rates at construction, each times `factor`.
  std::vector<double> base_scaled(double factor) const;

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
  std::vector<double> base_lrs_;
};

}  // namespace tenon::optim
