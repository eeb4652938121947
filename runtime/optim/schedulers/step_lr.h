#pragma once

#include "runtime/optim/schedulers/lr_scheduler.h"

namespace tenon::optim {

/// Times gamma every step_size epochs. As libtorch's, whose first step() counts as epoch 0: the
/// rate falls one step() later than Python's StepLR.
class TENON_API StepLR : public LRScheduler {
 public:
  /// ValueError for a step size of 0.
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;
  /// A file continues in Python at the epoch at which it would have continued here.
  int64_t first_epoch() const override { return -1; }

  unsigned step_size_;
  double gamma_;
};

}  // namespace tenon::optim
