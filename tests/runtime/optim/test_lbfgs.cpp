#include "runtime/optim/lbfgs.h"

#include <catch2/catch.hpp>

#include "tenon/ops/cosh.h"
#include "tests/runtime/values.h"

using namespace tenon;

namespace {

/// Three steps from the same start on a curved valley; the parameters afterwards, then the calls of
/// the closure and the iterations.
std::vector<double> minimize(const optim::LBFGSOptions& options) {
  Tensor p = vector_of({1, -2, 3}, kDouble);
  p.requires_grad_();
  optim::LBFGS optimizer({p}, options);
  const Tensor weights = vector_of({1, 0.5, 2}, kDouble);
  double calls = 0;
  for (int i = 0; i < 3; ++i) {
    optimizer.step([&] {
      ++calls;
      optimizer.zero_grad();
      const Tensor x = p * weights, a = x[0], b = x[1], c = x[2];
      const Tensor loss =
          (a - 1).pow(2) + (b - a.pow(2)).pow(2) * 10 + (c - b.pow(2)).pow(2) * 5 + c.cosh();
      loss.backward();
      return loss;
    });
  }
  const auto& state =
      static_cast<const optim::LBFGSParamState&>(*optimizer.state().at(p.unsafe_impl()));
  std::vector<double> result = values(p);
  result.push_back(calls);
  result.push_back(static_cast<double>(state.n_iter()));
  return result;
}

auto close_to(std::vector<double> expected) {
  return Catch::Matchers::Approx<double>(std::move(expected)).epsilon(1e-9);
}

}  // namespace

// The expected numbers are what PyTorch 2.15 gives for the same program.

TEST_CASE("LBFGS takes PyTorch's steps") {
  using Options = optim::LBFGSOptions;
  CHECK_THAT(minimize(Options(0.1).max_iter(4)),
             close_to({0.5554212843647548, -2.340272857620514, 2.232424088342302, 12, 12}));
  CHECK_THAT(minimize(Options(0.05).max_iter(7).history_size(2)),
             close_to({0.46961162511482724, -2.723867406801029, 2.3485145720160703, 21, 21}));
  CHECK_THAT(minimize(Options().line_search_fn("strong_wolfe").max_iter(5)),
             close_to({0.5736182924697517, 0.580784720141589, 0.007814306711702461, 18, 14}));
  CHECK_THAT(minimize(Options(0.5).line_search_fn("strong_wolfe").max_iter(4).history_size(2)),
             close_to({0.07343485433521639, -0.4798888796704942, 0.08998788269885459, 15, 12}));
}

TEST_CASE("what LBFGS refuses") {
  Tensor p = vector_of({1}, kDouble);
  p.requires_grad_();
  const std::vector<optim::OptimizerParamGroup> two{std::vector<Tensor>{p},
                                                    std::vector<Tensor>{vector_of({2}, kDouble)}};
  CHECK_THROWS_WITH(optim::LBFGS(two), Catch::Contains("doesn't support per-parameter options"));
  CHECK_THROWS_WITH(optim::LBFGS({p}, optim::LBFGSOptions(-1)), "Invalid learning rate: -1");
  optim::LBFGS optimizer({p}, optim::LBFGSOptions().line_search_fn("wolfe"));
  CHECK_THROWS_WITH(optimizer.step(nullptr), "LBFGS requires a closure function");
  CHECK_THROWS_WITH(optimizer.step([&] { return p.sum(); }), "only 'strong_wolfe' is supported");
  optim::LBFGS none(std::vector<Tensor>{});
  CHECK(none.step([&] { return p.sum(); }).item<double>() == 1);
}
