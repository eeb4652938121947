#include "autograd/tools/functional.h"
#include "tenon/ops/ones.h"

#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::variable_list;
namespace functional = autograd::functional;

namespace {

using Doubles = std::vector<double>;

Tensor row() { return tensor({1., 2.}, TensorOptions(kDouble)); }
Tensor column() { return tensor({3., 4.}, TensorOptions(kDouble)).view({2, 1}); }

variable_list two_outputs(const variable_list& in) {
  return {in[0] * in[0] * in[1], (in[0] * in[1]).sum() * in[1]};
}
variable_list scalar(const variable_list& in) { return {(in[0].pow(3) * in[1]).sum()}; }

variable_list inputs() { return {row(), column()}; }
variable_list input_vectors() {
  return {tensor({1., -1.}, TensorOptions(kDouble)),
          tensor({2., 0.5}, TensorOptions(kDouble)).view({2, 1})};
}
constexpr functional::Options kGraph{.create_graph = true, .strict = false};
constexpr functional::Options kStrict{.create_graph = false, .strict = true};
constexpr functional::Options kStrictGraph{.create_graph = true, .strict = true};

}  // namespace

TEST_CASE("vjp and jvp", "[functional]") {
  const variable_list v{tensor({1., 2., 3., 4.}, TensorOptions(kDouble)).view({2, 2}),
                        tensor({5., 6.}, TensorOptions(kDouble)).view({2, 1})};
  const auto back = functional::vjp(two_outputs, inputs(), v);
  CHECK(values(back.outputs[0]) == Doubles{3, 12, 4, 16});
  CHECK(values(back.outputs[1]) == Doubles{63, 84});
  CHECK(values(back.product[0]) == Doubles{303, 361});
  CHECK(values(back.product[1]) == Doubles{231, 262});
  CHECK_FALSE(back.outputs[0].requires_grad());
  CHECK_FALSE(back.product[0].requires_grad());
  const auto forward = functional::jvp(two_outputs, inputs(), input_vectors());
  CHECK(values(forward.product[0]) == Doubles{8, -4, 8.5, -14});
  CHECK(values(forward.product[1]) == Doubles{64.5, 40.5});
  CHECK(forward.product[0].sizes() == IntArrayRef({2, 2}));
}

TEST_CASE("jacobian and hessian", "[functional]") {
  const auto j = functional::jacobian(two_outputs, inputs());
  CHECK(j[0][0].sizes() == IntArrayRef({2, 2, 2}));
  CHECK(values(j[0][0]) == Doubles{6, 0, 0, 12, 8, 0, 0, 16});
  CHECK(j[0][1].sizes() == IntArrayRef({2, 2, 2, 1}));
  CHECK(values(j[0][1]) == Doubles{1, 0, 4, 0, 0, 1, 0, 4});
  CHECK(values(j[1][0]) == Doubles{21, 21, 28, 28});
  CHECK(values(j[1][1]) == Doubles{30, 9, 12, 33});
  const auto h = functional::hessian(scalar, inputs());
  CHECK(values(h[0][0]) == Doubles{42, 0, 0, 84});
  CHECK(values(h[0][1]) == Doubles{3, 3, 12, 12});
  CHECK(values(h[1][0]) == Doubles{3, 12, 3, 12});
  CHECK(values(h[1][1]) == Doubles{0, 0, 0, 0});
  CHECK(h[1][1].sizes() == IntArrayRef({2, 1, 2, 1}));
  const auto none = functional::jacobian(
      [](const variable_list& in) { return variable_list{in[0].slice(0, 0, 0)}; }, {row()});
  CHECK(none[0][0].sizes() == IntArrayRef({0, 2}));
}

TEST_CASE("vhp and hvp", "[functional]") {
  for (const auto& product : {functional::vhp(scalar, inputs(), input_vectors()),
                              functional::hvp(scalar, inputs(), input_vectors())}) {
    CHECK(values(product.outputs[0]) == Doubles{63});
    CHECK(values(product.product[0]) == Doubles{49.5, -54});
    CHECK(values(product.product[1]) == Doubles{-9, -9});
  }
}

TEST_CASE("Products can be differentiated themselves", "[functional]") {
  const Tensor x = row().requires_grad_();
  const auto cube = [](const variable_list& in) { return variable_list{in[0].pow(3)}; };
  const auto sum_of_cubes = [](const variable_list& in) {
    return variable_list{in[0].pow(3).sum()};
  };
  const variable_list v{ones({2}, TensorOptions(kDouble))};
  const auto derivative = [&](const Tensor& t) {
    return values(autograd::grad({t.sum()}, {x})[0]);
  };
  CHECK(derivative(functional::vjp(cube, {x}, v, kGraph).product[0]) == Doubles{6, 12});
  CHECK(derivative(functional::jvp(cube, {x}, v, kGraph).product[0]) == Doubles{6, 12});
  CHECK(derivative(functional::jacobian(cube, {x}, kGraph)[0][0]) == Doubles{6, 12});
  CHECK(derivative(functional::hessian(sum_of_cubes, {x}, kGraph)[0][0]) == Doubles{6, 6});
  CHECK(derivative(functional::vhp(sum_of_cubes, {x}, v, kGraph).product[0]) == Doubles{6, 6});
  CHECK(derivative(functional::hvp(sum_of_cubes, {x}, v, kGraph).product[0]) == Doubles{6, 6});
  const NoGradGuard guard;
  CHECK(values(functional::vjp(cube, {x}, v).product[0]) == Doubles{3, 12});
}

TEST_CASE("What does not depend on an input is zeros, or an error", "[functional]") {
  const auto first_only = [](const variable_list& in) { return variable_list{in[0].sum()}; };
  const auto constant = [](const variable_list&) { return variable_list{ones({})}; };
  CHECK(values(functional::vjp(first_only, inputs()).product[1]) == Doubles{0, 0});
  CHECK(values(functional::jacobian(constant, {row()})[0][0]) == Doubles{0, 0});
  CHECK_THROWS_WITH(functional::vjp(first_only, inputs(), {}, kStrict),
                    Contains("independent of input 1. This is not allowed in strict mode."));
  CHECK_THROWS_WITH(functional::jacobian(first_only, inputs(), kStrict),
                    Contains("Output 0 of the user-provided function is independent of input 1"));
  CHECK_THROWS_WITH(functional::vjp(constant, {row()}, {}, kStrict),
                    Contains("Output 0 of the user-provided function does not require gradients"));
  CHECK_THROWS_WITH(
      functional::vjp(first_only, {row().requires_grad_()}, {}, kStrictGraph),
      Contains("The jacobian of the user-provided function is independent of "
               "input 0. This is not allowed in strict mode when create_graph=True."));
  CHECK_THROWS_WITH(functional::hessian(first_only, {row()}, kStrict),
                    Contains("While computing the hessian, found that the jacobian"));
  CHECK_THROWS_WITH(functional::vhp(first_only, {row()}, {row()}, kStrict),
                    Contains("While computing the hessian, found that the jacobian"));
}

TEST_CASE("Vectors must fit", "[functional]") {
  CHECK_THROWS_WITH(functional::vjp(two_outputs, inputs()),
                    Contains("The vector v can only be None if the user-provided function "
                             "returns a single Tensor with a single element."));
  CHECK_THROWS_WITH(functional::jvp(two_outputs, inputs(), {row()}),
                    "[jvp] v is a tuple of invalid length: should be 2 but got 1.");
  CHECK_THROWS_WITH(
      functional::jvp(two_outputs, inputs(), {row(), row()}),
      "[jvp] Entry 1 in v has invalid size: should be tenon.Size([2, 1]) but got tenon.Size([2]).");
  CHECK_THROWS_WITH(functional::hvp(two_outputs, inputs(), input_vectors()),
                    "The function given to hvp should return a single Tensor, got 2");
  CHECK_THROWS_WITH(
      functional::hessian([](const variable_list& in) { return variable_list{in[0]}; }, {row()}),
      "The Tensor returned by the function given to hessian should contain a single element, got "
      "sizes [2]");
}
