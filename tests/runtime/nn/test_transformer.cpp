#include <catch2/catch.hpp>
#include <limits>

#include "aten/generated_support/tensor_factories.h"
#include "runtime/nn/modules/adaptive.h"
#include "runtime/nn/modules/transformer.h"
#include "tenon/ops/allclose.h"
#include "tenon/ops/argmax.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/select.h"
#include "tenon/ops/sum.h"
#include "tests/runtime/nn/numbered.h"

using namespace tenon;
using namespace tenon::nn;
using namespace tenon::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// The numbers are those of torch.nn with the same parameters.
TEST_CASE("attention: masks, added keys and other widths give PyTorch's numbers") {
  MultiheadAttention attention(
      MultiheadAttentionOptions(4, 2).add_bias_kv(true).add_zero_attn(true).kdim(3).vdim(5));
  CHECK(attention->named_parameters().keys() ==
        std::vector<std::string>{"q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias",
                                 "bias_k", "bias_v", "out_proj.weight", "out_proj.bias"});
  fill_parameters(*attention);
  const Tensor q = numbered({2, 2, 4}, 8), k = numbered({3, 2, 3}, 9), v = numbered({3, 2, 5}, 15);
  const Tensor padding = tensor({{false, true, false}, {false, false, true}});
  const Tensor scores = tensor({{0., -1., 2.}, {1., 0., -2.}}, TensorOptions(kFloat));
  const auto [output, weights] = attention(q, k, v, padding, true, scores);
  CHECK(is_near(output.select(0, 0), {-0.481756, -0.170587, 0.140582, 0.451752, -0.526101,
                                      -0.199344, 0.127413, 0.454171}));
  CHECK(weights.sizes() == IntArrayRef({2, 2, 5}));
  CHECK(is_near(weights.select(0, 0), {0.305171, 0, 0.488854, 0.087197, 0.118778, 0.47782, 0,
                                       0.036137, 0.25901, 0.227033}));

  const auto [same, none] = attention(q, k, v, padding, false, scores);
  CHECK(allclose(same, output, 1e-5, 1e-6));
  CHECK(!none.defined());
  const auto [_, of_heads] = attention(q, k, v, padding, true, scores, false);
  CHECK(of_heads.sizes() == IntArrayRef({2, 2, 2, 5}));
  CHECK(allclose(of_heads.mean(1), weights, 1e-5, 1e-6));

  // A mask of numbers, and one for each head.
  const Tensor added = tensor({{0., -kInfinity, 0.}, {0., 0., -kInfinity}}, TensorOptions(kFloat));
  CHECK(allclose(std::get<0>(attention(q, k, v, added, true, scores)), output, 1e-5, 1e-6));
  const Tensor each = cat({scores, scores, scores, scores}).reshape({4, 2, 3});
  CHECK(allclose(std::get<0>(attention(q, k, v, padding, true, each)), output, 1e-5, 1e-6));
}

TEST_CASE("attention: first values are PyTorch's for a seed, errors say what is wrong") {
  manual_seed(3);
  MultiheadAttention attention(MultiheadAttentionOptions(2, 1).add_bias_kv(true));
  std::vector<Tensor> all;
  for (const Tensor& p : attention->parameters()) all.push_back(p.flatten());
  CHECK(is_near(cat(all),
                {0.470885,  0.4221,    0.163542,  0.671787,  -0.084816, 0.518733,  -0.606493,
                 -0.170661, -0.772188, -0.070312, -0.561868, 0.778008,  0,         0,
                 0,         0,         0,         0,         0.081057,  -0.447011, -0.638117,
                 -0.430391, -0.701077, -0.557809, -0.302864, -0.668987, 0,         0}));
  CHECK_THROWS_WITH(MultiheadAttention(5, 2),
                    Catch::Contains("embed_dim must be divisible by num_heads, got 5 and 2"));
  const Tensor x = numbered({3, 2, 2}, 6);
  CHECK_THROWS_WITH(attention(x, x, numbered({2, 2, 2}, 4)), Catch::Contains("the same length"));
  CHECK_THROWS_WITH(attention(x, x, x, tensor({{false, false, false}})),
                    Catch::Contains("expected key_padding_mask of shape [2, 3], got [1, 3]"));
  CHECK_THROWS_WITH(attention(x, x, x, Tensor(), true, tensor({{0., 0.}})),
                    Catch::Contains("expected attn_mask of shape [3, 3], got [1, 2]"));
}

TEST_CASE("transformer: PyTorch's numbers, names and masks") {
  Transformer model(TransformerOptions(4, 2, 1, 1).dim_feedforward(8).dropout(0));
  const std::vector<std::string> names = model->named_parameters().keys();
  REQUIRE(names.size() == 34);
  CHECK(names[0] == "encoder.layers.0.self_attn.in_proj_weight");
  CHECK(names[12] == "encoder.norm.weight");
  CHECK(names[18] == "decoder.layers.0.multihead_attn.in_proj_weight");
  CHECK(names.back() == "decoder.norm.bias");
  fill_parameters(*model);
  const Tensor source = numbered({2, 2, 4}, 8);
  const Tensor target = tensor({{{.1, -.2, .3, .4}, {.5, .6, -.7, .8}},
                                {{.9, -1., .2, .3}, {-.4, .5, .6, .7}},
                                {{.1, .1, .3, .2}, {0., 1., 2., -1.}}},
                               TensorOptions(kFloat));
  const Tensor mask = TransformerImpl::generate_square_subsequent_mask(3);
  CHECK(values(mask) == std::vector<double>{0, -kInfinity, -kInfinity, 0, 0, -kInfinity, 0, 0, 0});
  const Tensor result = model(source, target, Tensor(), mask);
  CHECK(is_near(result, {-0.198815, -0.021552, 0.065748,  0.945631,  -0.20001,  -0.021279,
                         0.065654,  0.945551,  -0.192207, -0.023387, 0.06601,   0.946216,
                         -0.201827, -0.020692, 0.065656,  0.945325,  -0.200266, -0.021135,
                         0.065705,  0.945484,  -0.201717, -0.020514, 0.065834,  0.945212}));
  CHECK_THROWS_WITH(model(source, numbered({3, 1, 4}, 6)),
                    "[Transformer] src and tgt should have equal batch size (at dim 1), but got 2 "
                    "and 1");

  const auto copy = std::dynamic_pointer_cast<TransformerImpl>(model->clone());
  CHECK(is_near(copy->forward(source, target, {}, mask), values(result)));
  CHECK(copy->named_parameters().keys() == names);
  copy->reset_parameters();
  CHECK(!is_near(copy->forward(source, target, {}, mask), values(result)));
  CHECK(is_near(model(source, target, Tensor(), mask), values(result)));
}

TEST_CASE("transformer: coders clone the layer they are given") {
  TransformerEncoderLayer layer(TransformerEncoderLayerOptions(4, 2).dim_feedforward(8).dropout(0));
  TransformerEncoder encoder(layer, 2);
  CHECK(encoder->layers->size() == 2);
  const Tensor x = numbered({3, 2, 4}, 12);
  const Tensor twice = layer(layer(x));
  CHECK(is_near(encoder(x), values(twice)));
  fill_parameters(*layer);
  CHECK(is_near(encoder(x), values(twice)));
  CHECK(is_near(TransformerEncoder(layer, 0)(x), values(x)));

  // A function of the user's, and gelu.
  const auto of = [&](const activation_t& activation) {
    TransformerDecoderLayer decoder(
        TransformerDecoderLayerOptions(4, 2).dim_feedforward(8).dropout(0).activation(activation));
    fill_parameters(*decoder);
    return decoder(x, x);
  };
  const activation_t user = [](const Tensor& y) { return y.relu(); };
  CHECK(is_near(of(user), values(of(kReLU))));
  CHECK(!is_near(of(kGELU), values(of(kReLU))));

  // Nothing to look at.
  const Tensor nothing = tensor({{true, true, true}, {true, true, true}});
  CHECK(layer(x, Tensor(), nothing).isnan().all().item<bool>());
}

TEST_CASE("adaptive softmax: PyTorch's numbers") {
  AdaptiveLogSoftmaxWithLoss model(AdaptiveLogSoftmaxWithLossOptions(4, 6, {2, 4}).div_value(2));
  CHECK(model->named_parameters().keys() ==
        std::vector<std::string>{"head.weight", "tail.0.0.weight", "tail.0.1.weight",
                                 "tail.1.0.weight", "tail.1.1.weight"});
  fill_parameters(*model);
  const Tensor x = numbered({3, 4}, 6);
  const auto [output, loss] = model(x, tensor({1, 5, 2}));
  CHECK(is_near(output, {-1.338284, -2.156077, -2.091422}));
  CHECK(loss == Approx(1.86192786693573).epsilon(1e-6));
  const Tensor all = model->log_prob(x);
  CHECK(
      is_near(all.select(0, 1), {-1.26563, -1.348964, -2.172328, -2.080661, -2.26441, -2.156077}));
  CHECK(values(model->predict(x)) == std::vector<double>{0, 0, 5});
  CHECK(values(all.argmax(1)) == std::vector<double>{0, 0, 5});
  const ASMoutput one = model(x.select(0, 1), tensor(5));
  CHECK(one.output.dim() == 0);
  CHECK(one.output.item<double>() == Approx(-2.156077).epsilon(1e-5));
  output.sum().backward();
  for (const Tensor& p : model->parameters()) CHECK(p.grad().defined());

  CHECK_THROWS_WITH(
      model(x, tensor({1, 6, 2})),
      Catch::Contains("Target values should be in [0, 5], but values in range [1, 6]"));
  CHECK_THROWS_WITH(model(x, tensor(1)), Catch::Contains("0D target tensor expects 1D input"));
  CHECK_THROWS_WITH(AdaptiveLogSoftmaxWithLoss(4, 6, std::vector<int64_t>{4, 2}),
                    Catch::Contains("cutoffs should be a sequence of unique, positive integers"));
}
