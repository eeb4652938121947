#include <catch2/catch.hpp>

#include <sstream>

#include "runtime/optim/optim.h"
#include "runtime/serialization/archive_files.h"
#include "runtime/serialization/training/optimizer_state.h"
#include "tests/runtime/values.h"

using namespace tenon;

TEST_CASE("optimizers in archives") {
  const auto parameters = [] {
    std::vector<Tensor> all{vector_of({1, 2}, kDouble), vector_of({3}, kDouble)};
    for (Tensor& p : all) {
      p.requires_grad_();
      p.mutable_grad() = p.detach() * 2;
    }
    return all;
  };
  const auto check = [&](auto&& ours, auto&& other) {
    ours.step();
    std::stringstream file;
    tenon::save(ours, file);
    tenon::load(other, file);
    CHECK(serialization::optimizer_state_dict(other) == serialization::optimizer_state_dict(ours));
    CHECK(other.param_groups()[0].options() == ours.param_groups()[0].options());
  };
  check(optim::Adam(parameters(), optim::AdamOptions(0.1).amsgrad(true).betas({0.5, 0.75})),
        optim::Adam(parameters(), optim::AdamOptions(5)));
  check(optim::SGD(parameters(), optim::SGDOptions(0.1)),
        optim::SGD(parameters(), optim::SGDOptions(5).momentum(0.9)));
  check(optim::NAdam(parameters(), optim::NAdamOptions(0.1)), optim::NAdam(parameters()));

  optim::Adam ours(parameters(), {});
  ours.step();
  std::stringstream file;
  tenon::save(ours, file);
  optim::Adam one({parameters()[0]}, optim::AdamOptions(5));
  CHECK_THROWS_WITH(tenon::load(one, file), Catch::Contains("a different size"));
  CHECK(one.state().empty());
  CHECK(one.param_groups()[0].options().get_lr() == 5);
}
