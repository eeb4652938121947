#pragma once

#include <functional>
#include <vector>

#include "runtime/optim/schedulers/lr_scheduler.h"

// Schedules that libtorch does not have. After the n-th step() the rates are those of Python's
// scheduler of the same name after its n-th step().

namespace tenon::optim {

/// The rate at construction times a function of the epoch.
class TENON_API LambdaLR : public LRScheduler {
 public:
  using Factor = std::function<double(unsigned epoch)>;
  LambdaLR(Optimizer& optimizer, Factor lr_lambda);

 protected:
  std::vector<double> get_lrs() override { return base_scaled(factor_(step_count_ + 1)); }

 private:
  Factor factor_;
};

/// Times gamma every epoch.
class TENON_API ExponentialLR : public LambdaLR {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);
};

/// Times gamma at each of the milestones.
class TENON_API MultiStepLR : public LambdaLR {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<unsigned> milestones, double gamma = 0.1);
};

/// Times factor for the first total_iters epochs.
class TENON_API ConstantLR : public LambdaLR {
 public:
  /// ValueError for a factor outside [0, 1].
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, unsigned total_iters = 5);
};

/// The factor goes from start_factor to end_factor over total_iters epochs and stays there.
class TENON_API LinearLR : public LambdaLR {
 public:
  /// ValueError for a start factor outside (0, 1] or an end factor outside [0, 1].
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    unsigned total_iters = 5);
};

/// The rate at construction times (1 - epoch / total_iters) ^ power, 0 from total_iters on.
class TENON_API PolynomialLR : public LambdaLR {
 public:
  explicit PolynomialLR(Optimizer& optimizer, unsigned total_iters = 5, double power = 1);
};

/// eta_min + (rate at construction - eta_min) (1 + cos(pi epoch / T_max)) / 2: Loshchilov and
/// Hutter (2017), without restarts.
class TENON_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, unsigned T_max, double eta_min = 0);

 private:
  std::vector<double> get_lrs() override;

  unsigned length_;
  double lowest_;
};

}  // namespace tenon::optim
