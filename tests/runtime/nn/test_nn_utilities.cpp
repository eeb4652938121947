#include <catch2/catch.hpp>
#include <limits>

#include "aten/core/generator.h"
#include "runtime/nn/init.h"
#include "runtime/nn/utils/gradients.h"
#include "runtime/nn/utils/rnn.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/values.h"

using namespace tenon;
using Catch::Contains;

namespace {

Tensor with_grad(const std::vector<double>& grad) {
  const Tensor p = vector_of(grad).requires_grad_();
  p.mutable_grad() = vector_of(grad);
  return p;
}

/// The elements are these, to single precision.
void check_close(const Tensor& t, const std::vector<double>& expected) {
  const std::vector<double> actual = values(t);
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) CHECK(actual[i] == Approx(expected[i]).margin(1e-6));
}

}  // namespace

// The numbers are those of PyTorch 2.15's Python functions for the same seed.
TEST_CASE("initialisers draw PyTorch's numbers") {
  manual_seed(3);
  check_close(nn::init::orthogonal_(empty({3, 2}, TensorOptions()), 2),
              {1.9846043586730957, 0.19487082958221436, 0.2198326736688614, -0.8172181844711304,
               0.11410011351108551, -1.8149874210357666});
  manual_seed(3);
  check_close(nn::init::orthogonal_(empty({2, 3}, TensorOptions())),
              {0.9714502096176147, 0.21143653988838196, 0.10760656744241714, 0.0756496712565422,
               0.15382348001003265, -0.9851981401443481});
  manual_seed(3);
  check_close(nn::init::sparse_(empty({4, 2}, TensorOptions()), 0.3),
              {0.008032760582864285, 0, 0, 0, 0.00046182452933862805, -0.0136825917288661, 0,
               0.010111158713698387});
  check_close(nn::init::dirac_(empty({4, 2, 3}, TensorOptions()), 2),
              {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
  check_close(nn::init::eye_(empty({2, 3}, TensorOptions())), {1, 0, 0, 0, 1, 0});
  CHECK_THROWS_AS(nn::init::eye_(empty({2}, TensorOptions())), ValueError);
  CHECK_THROWS_AS(nn::init::dirac_(empty({3, 2, 3}, TensorOptions()), 2), ValueError);
}

TEST_CASE("gradients are clipped to a norm of all") {
  const std::vector<Tensor> parameters = {with_grad({3}), with_grad({4}), vector_of({1})};
  CHECK(nn::utils::clip_grad_norm_(parameters, 10) == Approx(5));
  check_close(parameters[0].grad(), {3});
  CHECK(nn::utils::clip_grad_norm_(parameters, 1) == Approx(5));
  check_close(parameters[0].grad(), {0.6});
  check_close(parameters[1].grad(), {0.8});
  CHECK(nn::utils::clip_grad_norm_(parameters, 1, std::numeric_limits<double>::infinity()) ==
        Approx(0.8));
  const Tensor bad = with_grad({std::numeric_limits<double>::infinity()});
  CHECK_THROWS_WITH(nn::utils::clip_grad_norm_(bad, 1, 2, true), Contains("is non-finite"));
  const Tensor wide = with_grad({-3, 0.5, 3});
  nn::utils::clip_grad_value_(wide, 1);
  check_close(wide.grad(), {-1, 0.5, 1});
}

TEST_CASE("parameters are one vector and back") {
  const std::vector<Tensor> parameters = {zeros({2, 2}, TensorOptions()),
                                          zeros({1}, TensorOptions())};
  nn::utils::vector_to_parameters(vector_of({1, 2, 3, 4, 5}), parameters);
  CHECK(parameters[0].sizes() == IntArrayRef({2, 2}));
  check_close(nn::utils::parameters_to_vector(parameters), {1, 2, 3, 4, 5});
}

TEST_CASE("sequences are packed step by step and padded again") {
  const Tensor a = vector_of({1, 2, 3}).requires_grad_();
  const std::vector<Tensor> sequences = {vector_of({4, 5}), a, vector_of({6})};
  const auto packed = nn::utils::rnn::pack_sequence(sequences, false);
  check_close(packed.data(), {1, 4, 6, 2, 5, 3});
  check_close(packed.batch_sizes(), {3, 2, 1});
  check_close(packed.sorted_indices(), {1, 0, 2});
  check_close(packed.unsorted_indices(), {1, 0, 2});
  const auto [padded, lengths] = nn::utils::rnn::pad_packed_sequence(packed, false, -1, 4);
  check_close(padded, {4, 1, 6, 5, 2, -1, -1, 3, -1, -1, -1, -1});
  check_close(lengths, {2, 3, 1});
  (padded * padded).sum().backward();
  check_close(a.grad(), {2, 4, 6});

  CHECK_THROWS_WITH(nn::utils::rnn::pack_sequence(sequences),
                    Contains("You can pass `enforce_sorted=False`"));
  CHECK_THROWS_WITH(nn::utils::rnn::pad_packed_sequence(packed, false, 0, 2),
                    Contains("got total_length=2 and max sequence length being 3"));
}
