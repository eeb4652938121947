#include <catch2/catch.hpp>

#include "runtime/optim/schedulers/epoch_schedulers.h"
#include "runtime/optim/schedulers/reduce_on_plateau_scheduler.h"
#include "runtime/optim/schedulers/step_lr.h"
#include "runtime/optim/sgd.h"
#include "tests/runtime/values.h"

using namespace tenon;

namespace {

struct Trained {
  optim::SGD optimizer{{vector_of({0})}, optim::SGDOptions(0.8)};
  double rate() { return optimizer.param_groups()[0].options().get_lr(); }
};

/// The rates after each of eight epochs.
template <class Scheduler, class... Arguments>
std::vector<double> rates(const Arguments&... arguments) {
  Trained trained;
  Scheduler scheduler(trained.optimizer, arguments...);
  std::vector<double> result;
  for (int i = 0; i < 8; ++i) {
    scheduler.step();
    result.push_back(trained.rate());
  }
  return result;
}

auto close_to(std::vector<double> expected) {
  return Catch::Matchers::Approx<double>(std::move(expected)).margin(1e-15);
}

}  // namespace

// The expected numbers are what PyTorch 2.15 gives for the same program.

TEST_CASE("schedules have Python's rates") {
  CHECK_THAT(rates<optim::ExponentialLR>(0.5),
             close_to({0.4, 0.2, 0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125}));
  CHECK_THAT(rates<optim::MultiStepLR>(std::vector<unsigned>{2, 5}, 0.5),
             close_to({0.8, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2}));
  CHECK_THAT(rates<optim::ConstantLR>(0.25, 3U),
             close_to({0.2, 0.2, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8}));
  CHECK_THAT(rates<optim::LinearLR>(0.25, 0.75, 4U),
             close_to({0.3, 0.4, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6}));
  CHECK_THAT(rates<optim::PolynomialLR>(5U, 2.0),
             close_to({0.512, 0.288, 0.128, 0.032, 0, 0, 0, 0}));
  CHECK_THAT(rates<optim::CosineAnnealingLR>(6U, 0.1),
             close_to({0.7531088913245536, 0.625, 0.45, 0.275, 0.14689110867544647, 0.1,
                       0.14689110867544647, 0.275}));
  CHECK_THAT(rates<optim::LambdaLR>([](unsigned epoch) { return 1.0 / (1 + epoch); }),
             close_to({0.4, 0.8 / 3, 0.2, 0.16, 0.8 / 6, 0.8 / 7, 0.1, 0.8 / 9}));
}

TEST_CASE("StepLR counts as libtorch's") {
  CHECK_THAT(rates<optim::StepLR>(3U, 0.5), close_to({0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.2, 0.2}));
}

TEST_CASE("a rate falls when a metric stays") {
  Trained trained;
  optim::ReduceLROnPlateauScheduler scheduler(trained.optimizer,
                                              optim::ReduceLROnPlateauScheduler::min, 0.5, 1, 0.1,
                                              optim::ReduceLROnPlateauScheduler::rel, 1, {0.15});
  std::vector<double> result;
  for (const double metric : {3.0, 2.9, 2.8, 2.8, 2.8, 2.8, 2.0, 2.0, 2.0, 2.0}) {
    scheduler.step(metric);
    result.push_back(trained.rate());
  }
  CHECK_THAT(result, close_to({0.8, 0.8, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.15, 0.15}));
}

TEST_CASE("each group has its own rate, and options without one are refused") {
  Trained trained;
  trained.optimizer.add_param_group(
      optim::OptimizerParamGroup({vector_of({1})}, std::make_unique<optim::SGDOptions>(0.1)));
  optim::ExponentialLR scheduler(trained.optimizer, 0.5);
  scheduler.step();
  CHECK(trained.rate() == 0.4);
  CHECK(trained.optimizer.param_groups()[1].options().get_lr() == 0.05);
  CHECK_THROWS_WITH(optim::LinearLR(trained.optimizer, 0), Catch::Contains("greater than 0"));
  CHECK_THROWS_WITH(optim::StepLR(trained.optimizer, 0), Catch::Contains("must be positive"));

  // A scheduler with a rate for one group alone.
  struct One : optim::LRScheduler {
    using LRScheduler::LRScheduler;
    std::vector<double> get_lrs() override { return {1}; }
  };
  One one(trained.optimizer);
  CHECK_THROWS_WITH(one.step(), Catch::Contains("Number of learning rates given: 1\n"
                                                "Number of param groups: 2"));
}

TEST_CASE("a schedule goes on from a state, and wrong states change nothing") {
  Trained a, b;
  optim::StepLR one(a.optimizer, 3, 0.5), other(b.optimizer, 3, 0.5);
  for (int i = 0; i < 5; ++i) one.step();
  CHECK(one.state().last_epoch == 4);
  b.optimizer.param_groups()[0].options().set_lr(a.rate());
  other.set_state(one.state());
  for (int i = 0; i < 6; ++i) {
    one.step(), other.step();
    CHECK(a.rate() == b.rate());
  }
  CHECK_THROWS_WITH(other.set_state({{0.1, 0.2}, 3}),
                    "[lr_scheduler] expected 1 base_lrs, one for each parameter group, got 2");
  CHECK_THROWS_WITH(other.set_state({{0.1}, -2}),
                    "[lr_scheduler] expected last_epoch >= -1, got -2");
  CHECK(other.state().last_epoch == 10);
  optim::ReduceLROnPlateau plateau(a.optimizer);
  CHECK_THROWS_WITH(plateau.set_state({.best = 1, .num_bad_epochs = -1}),
                    "[ReduceLROnPlateau] expected a count >= 0, got -1");
  plateau.set_state({.best = 1, .num_bad_epochs = 10});
  plateau.step(2);
  CHECK(plateau.state().num_bad_epochs == 0);
}
