#include <catch2/catch.hpp>
#include <sstream>

#include "mine/nn/functional.h"
#include "mine/nn/modules.h"
#include "tenon/ops/allclose.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/sigmoid.h"

namespace {

using namespace tenon;

TEST_CASE("a module of a library beside Tenon computes, prints and has a state") {
  mine::nn::ScaledLinear layer(3, 2);
  {
    NoGradGuard no_grad;
    layer->weight.fill_(1);
    layer->scale.fill_(2);
  }
  const Tensor result = layer(ones({1, 3}));
  CHECK(result.sizes() == IntArrayRef({1, 2}));
  CHECK(result.sum().item<double>() == 12);
  result.sum().backward();
  CHECK(layer->weight.grad().sum().item<double>() == 12);
  CHECK(layer->state_dict().keys() == std::vector<std::string>{"weight", "scale", "bias"});
  std::ostringstream text;
  text << layer;
  CHECK(text.str() == "mine::nn::ScaledLinear(in_features=3, out_features=2, bias=true)");
  CHECK_FALSE(
      mine::nn::ScaledLinear(mine::nn::ScaledLinearOptions(3, 2).bias(false))->bias.defined());
  CHECK_THROWS_WITH(mine::nn::ScaledLinear(0, 2), "[ScaledLinear] expected in_features > 0, got 0");
}

TEST_CASE("a function of a library beside Tenon") {
  const Tensor x = ones({2, 2});
  const Tensor expected = x * sigmoid(x * 2);
  CHECK(allclose(mine::nn::functional::swish(x, mine::nn::functional::SwishFuncOptions(2.0)),
                 expected));
  CHECK(allclose(mine::nn::Swish(2.0)(x), expected));
}

TEST_CASE("a clone has tensors of its own") {
  mine::nn::ScaledLinear layer(3, 2);
  const auto copy = std::dynamic_pointer_cast<mine::nn::ScaledLinearImpl>(layer->clone());
  REQUIRE(copy);
  CHECK(allclose(copy->weight, layer->weight));
  CHECK(copy->weight.data_ptr() != layer->weight.data_ptr());
}

}  // namespace
