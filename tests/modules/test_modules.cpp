#include <catch2/catch.hpp>
#include <sstream>

#include "mine/nn/functional.h"
#include "mine/nn/modules.h"
#include "tenon/ops/allclose.h"
#include "tenon/ops/full.h"
#include "tenon/ops/item.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
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

TEST_CASE("modules of a module are members, and clones have their own") {
  mine::nn::GatedMLP mlp(mine::nn::GatedMLPOptions(4, 6).p(0.5));
  CHECK(mlp->state_dict().keys() ==
        std::vector<std::string>{"gate.weight", "up.weight", "down.weight", "down.bias"});
  std::ostringstream text;
  text << mlp;
  CHECK(text.str().starts_with("mine::nn::GatedMLP(\n  (gate): torch::nn::Linear("));
  mlp->eval();
  const Tensor x = randn({3, 4}, TensorOptions());
  const Tensor gate = linear(x, mlp->gate->weight), up = linear(x, mlp->up->weight);
  const Tensor expected = linear(gate * sigmoid(gate) * up, mlp->down->weight, mlp->down->bias);
  CHECK(allclose(mlp(x), expected));
  const auto copy = std::dynamic_pointer_cast<mine::nn::GatedMLPImpl>(mlp->clone());
  REQUIRE(copy);
  CHECK(copy->gate->weight.data_ptr() != mlp->gate->weight.data_ptr());
  CHECK(allclose(copy->forward(x), expected));
  mine::nn::Block block(4, 6);
  block->eval();
  CHECK(block(randn({2, 5, 4}, TensorOptions())).sizes() == IntArrayRef({2, 5, 4}));
  CHECK(block->mlp->drop->options.p() == 0.5);
  mine::nn::SqueezeExcite gated(mine::nn::SqueezeExciteOptions(8).reduction(3));
  CHECK(gated->squeeze->weight.sizes() == IntArrayRef({2, 8}));
  CHECK(gated(randn({2, 8, 3, 3}, TensorOptions())).sizes() == IntArrayRef({2, 8, 3, 3}));
  CHECK_THROWS_WITH(gated(x), "[SqueezeExcite] expected [N, C, H, W], got 2 dimensions");
}

TEST_CASE("forward writes buffers in training") {
  mine::nn::Centered centered(2);
  const Tensor x = full({4, 2}, 3.0, TensorOptions()).requires_grad_();
  const Tensor y = centered(x);
  CHECK(allclose(centered->mean, full({2}, 0.3, TensorOptions())));
  CHECK_FALSE(centered->mean.requires_grad());
  CHECK(allclose(y, full({4, 2}, 2.7, TensorOptions())));
  CHECK(centered->count.item<int64_t>() == 1);
  centered->eval();
  centered(x);
  CHECK(centered->count.item<int64_t>() == 1);
}

}  // namespace
