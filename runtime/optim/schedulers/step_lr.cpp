#include "runtime/optim/schedulers/step_lr.h"

namespace tenon::optim {

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  TENON_CHECK_VALUE(step_size > 0, "[StepLR] step_size must be positive, got 0");
}

std::vector<double> StepLR::get_lrs() {
  const bool falls = step_count_ != 0 && step_count_ % step_size_ == 0;
  return falls ? scaled(gamma_) : get_current_lrs();
}

}  // namespace tenon::optim
