#include "runtime/optim/schedulers/epoch_schedulers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon::optim {
namespace {

/// How much of `total` epochs has passed, from 0 to 1.
double passed(unsigned epoch, unsigned total) {
  return total == 0 ? 1 : static_cast<double>(std::min(epoch, total)) / total;
}

LambdaLR::Factor constant(double factor, unsigned total_iters) {
  TENON_CHECK_VALUE(factor >= 0 && factor <= 1,
                    "Constant multiplicative factor expected to be between 0 and 1.");
  return [=](unsigned epoch) { return epoch >= total_iters ? 1 : factor; };
}

LambdaLR::Factor linear(double start, double end, unsigned total_iters) {
  TENON_CHECK_VALUE(
      start > 0 && start <= 1,
      "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.");
  TENON_CHECK_VALUE(end >= 0 && end <= 1,
                    "Ending multiplicative factor expected to be between 0 and 1.");
  return [=](unsigned epoch) { return start + (end - start) * passed(epoch, total_iters); };
}

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, Factor lr_lambda)
    : LRScheduler(optimizer), factor_(std::move(lr_lambda)) {
  const std::vector<double> first = base_scaled(factor_(0));
  for (size_t i = 0; i < first.size(); ++i) optimizer.param_groups()[i].options().set_lr(first[i]);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : LambdaLR(optimizer, [gamma](unsigned epoch) { return std::pow(gamma, epoch); }) {}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<unsigned> milestones, double gamma)
    : LambdaLR(optimizer, [milestones = std::move(milestones), gamma](unsigned epoch) {
        const auto behind = std::count_if(milestones.begin(), milestones.end(),
                                          [&](unsigned one) { return one <= epoch; });
        return std::pow(gamma, behind);
      }) {}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, unsigned total_iters)
    : LambdaLR(optimizer, constant(factor, total_iters)) {}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   unsigned total_iters)
    : LambdaLR(optimizer, linear(start_factor, end_factor, total_iters)) {}

PolynomialLR::PolynomialLR(Optimizer& optimizer, unsigned total_iters, double power)
    : LambdaLR(optimizer,
               [=](unsigned epoch) { return std::pow(1 - passed(epoch, total_iters), power); }) {}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, unsigned T_max, double eta_min)
    : LRScheduler(optimizer), length_(T_max), lowest_(eta_min) {
  TENON_CHECK_VALUE(T_max > 0, "[CosineAnnealingLR] T_max must be positive, got 0");
}

std::vector<double> CosineAnnealingLR::get_lrs() {
  const double angle = std::numbers::pi * (step_count_ + 1) / length_;
  std::vector<double> rates = base_scaled(1);
  for (double& rate : rates) rate = lowest_ + (rate - lowest_) * (1 + std::cos(angle)) / 2;
  return rates;
}

}  // namespace tenon::optim
