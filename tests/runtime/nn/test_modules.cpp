#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/nn/nn.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
#include "tests/runtime/values.h"

using namespace tenon;
namespace F = tenon::nn::functional;

// Numbers named "PyTorch's" are what PyTorch 2.15 gives for the same program.

TEST_CASE("initial weights are PyTorch's for a seed") {
  manual_seed(0);
  nn::Linear linear(3, 2);
  CHECK_THAT(
      values(linear->weight),
      Catch::Approx<double>({-0.004322517663240433, 0.3097158372402191, -0.4751853346824646,
                             -0.4248946011066437, -0.2223689705133438, 0.15482072532176971}));
  CHECK_THAT(values(linear->bias),
             Catch::Approx<double>({-0.011439144611358643, 0.45777493715286255}));
  manual_seed(0);
  nn::Conv2d conv(1, 2, 2);
  CHECK_THAT(values(conv->weight),
             Catch::Approx<double>({-0.003743410110473633, 0.26822179555892944, -0.4115225672721863,
                                    -0.3679695129394531, -0.19257718324661255, 0.13407868146896362,
                                    -0.009906589984893799, 0.39644473791122437}));
  CHECK_THAT(values(conv->bias), Catch::Approx<double>({-0.04437202215194702, 0.1323062777519226}));
  manual_seed(0);
  nn::Embedding embedding(3, 2);
  CHECK_THAT(values(embedding->weight),
             Catch::Approx<double>({1.5409960746765137, -0.293428897857666, -2.1787893772125244,
                                    0.5684312582015991, -1.0845223665237427, -1.3985954523086548}));
}

TEST_CASE("initialisations are PyTorch's for a seed") {
  manual_seed(0);
  Tensor x(empty({3, 2}, kFloat, kCPU));
  CHECK_THAT(
      values(nn::init::xavier_uniform_(x)),
      Catch::Approx<double>({-0.008201400749385357, 0.5876445174217224, -0.9016007781028748,
                             -0.8061808347702026, -0.4219154715538025, 0.29375168681144714}));
  CHECK_THAT(
      values(nn::init::xavier_normal_(x)),
      Catch::Approx<double>({0.7997139096260071, -0.43476662039756775, 0.10143401473760605,
                             -0.3835534155368805, -0.49525323510169983, 0.6717759370803833}));
  CHECK_THAT(values(nn::init::kaiming_normal_(x)),
             Catch::Approx<double>({-0.2613142132759094, 1.066699743270874, 0.41589120030403137,
                                    0.8395664095878601, -0.8264687061309814, -0.7949366569519043}));
  CHECK(values(nn::init::ones_(x)) == std::vector<double>(6, 1));
  CHECK(values(nn::init::constant_(x, 2.5)) == std::vector<double>(6, 2.5));
  CHECK_THROWS_WITH(
      nn::init::kaiming_uniform_(Tensor(empty({3}, kFloat, kCPU))),
      "[init] fan in and fan out need a tensor of at least 2 dimensions, got shape [3]");
  CHECK(nn::init::calculate_gain(kTanh) == Approx(5.0 / 3));
}

TEST_CASE("layers without channels are made") {
  CHECK(nn::Conv2d(nn::Conv2dOptions(0, 8, 2))->weight.sizes() == IntArrayRef({8, 0, 2, 2}));
  CHECK(values(nn::Linear(0, 3)->bias) == std::vector<double>(3, 0));
  CHECK(nn::init::kaiming_normal_(Tensor(empty({0}, kFloat, kCPU))).numel() == 0);
}

TEST_CASE("linear and flatten") {
  nn::Linear linear(nn::LinearOptions(4, 2).bias(false));
  nn::init::ones_(linear->weight);
  nn::Flatten flatten;
  const Tensor x = arange(8, TensorOptions(kFloat)).view({2, 2, 2});
  CHECK(flatten(x).sizes() == IntArrayRef({2, 4}));
  CHECK(values(linear(flatten(x))) == std::vector<double>{6, 6, 22, 22});
  CHECK_FALSE(linear->bias.defined());
  CHECK_THROWS_AS(nn::Linear(-1, 2), Error);
}

TEST_CASE("convolution and pooling shapes and values") {
  nn::Conv2d conv(nn::Conv2dOptions(1, 1, 3).padding(1).bias(false));
  nn::init::ones_(conv->weight);
  const Tensor x = ones({1, 1, 4, 4}, TensorOptions());
  CHECK(values(conv(x)) == std::vector<double>{4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4});
  CHECK(values(nn::MaxPool2d(2)(conv(x))) == std::vector<double>{9, 9, 9, 9});
  CHECK(values(nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2))(conv(x))) ==
        std::vector<double>(4, 6.25));
  CHECK_THROWS_AS(nn::Conv2d(nn::Conv2dOptions(3, 4, 1).groups(2)), ValueError);
  CHECK_THROWS_AS(nn::Conv2dOptions(1, 1, {1, 2, 3}), ValueError);
}

TEST_CASE("batch norm follows the batch while training and the running statistics afterwards") {
  nn::BatchNorm2d norm(2);
  const Tensor x = arange(8, TensorOptions(kFloat)).view({2, 2, 1, 2});
  const Tensor y = norm(x);
  CHECK(y.select(1, 0).sum().item<double>() == Approx(0).margin(1e-5));
  CHECK_THAT(values(norm->running_mean), Catch::Approx<double>({0.25, 0.45}));
  CHECK(norm->num_batches_tracked.item<int64_t>() == 1);
  norm->eval();
  norm(x);
  CHECK(norm->num_batches_tracked.item<int64_t>() == 1);
  CHECK_THROWS_WITH(norm(x.view({4, 2})), "[BatchNorm2d] expected 4D input (got 2D input)");

  norm->train();
  CHECK_THROWS_WITH(norm(ones({1, 2, 1, 1})),
                    "Expected more than 1 value per channel when training, got input "
                    "size [1, 2, 1, 1]");
  nn::BatchNorm2d cumulative(nn::BatchNorm2dOptions(2).momentum(std::nullopt));
  cumulative(x);
  CHECK_THAT(values(cumulative->running_mean), Catch::Approx<double>({2.5, 4.5}));
}

TEST_CASE("BatchNorm1d is BatchNorm2d over other shapes") {
  const Tensor x = arange(24, TensorOptions(kFloat)).square().reshape({4, 3, 2});
  nn::BatchNorm1d one(3);
  nn::BatchNorm2d two(3);
  CHECK(one(x).equal(two(x.unsqueeze(3)).squeeze(3)));
  CHECK(one->running_mean.equal(two->running_mean));
  CHECK(one(x.select(2, 0)).equal(two(x.slice(2, 0, 1).unsqueeze(3)).flatten(1)));
  one->eval();
  CHECK(one(x.slice(0, 0, 1)).sizes() == IntArrayRef{1, 3, 2});
  std::ostringstream text;
  text << one;
  CHECK(
      text.str() ==
      "torch::nn::BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
  CHECK_THROWS_WITH(one(ones({3})), "[BatchNorm1d] expected 2D or 3D input (got 1D input)");
}

TEST_CASE("layer norm") {
  nn::LayerNorm norm(std::vector<int64_t>{2});
  CHECK_THAT(values(norm(vector_of({1, 3, -4, 4}).view({2, 2}))),
             Catch::Approx<double>({-0.999995, 0.999995, -1, 1}).epsilon(1e-5));
}

TEST_CASE("embedding") {
  nn::Embedding embedding(nn::EmbeddingOptions(3, 2).padding_idx(-1));
  CHECK(values(embedding->weight.select(0, 2)) == std::vector<double>{0, 0});
  const Tensor index = vector_of({2, 0}, kLong);
  const Tensor y = embedding(index);
  CHECK(values(y.select(0, 1)) == values(embedding->weight.select(0, 0)));
  y.sum().backward();
  CHECK(values(embedding->weight.grad()) == std::vector<double>{1, 1, 0, 0, 0, 0});
  CHECK_THROWS_WITH(nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(3)),
                    "Padding_idx must be within num_embeddings, got 3 for 3");
}

TEST_CASE("dropout drops only while training") {
  manual_seed(1);
  nn::Dropout dropout(0.5);
  const Tensor x = ones({1000}, TensorOptions());
  const double kept = dropout(x).sum().item<double>() / 2;
  CHECK(kept > 400);
  CHECK(kept < 600);
  dropout->eval();
  CHECK(values(dropout(x)) == values(x));
  CHECK_THROWS_WITH(nn::Dropout(1.5),
                    "[Dropout] dropout probability has to be between 0 and 1, but got 1.5");
}

TEST_CASE("activations") {
  const Tensor x = vector_of({-2, 0, 1});
  CHECK(values(nn::ReLU()(x)) == std::vector<double>{0, 0, 1});
  CHECK_THAT(values(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.1))(x)),
             Catch::Approx<double>({-0.2, 0, 1}).margin(1e-7));
  CHECK_THAT(values(nn::GELU()(x)),
             Catch::Approx<double>({-0.045500264, 0, 0.841344746}).epsilon(1e-5).margin(1e-7));
  CHECK_THAT(values(nn::SiLU()(x)),
             Catch::Approx<double>({-0.238405844, 0, 0.731058579}).epsilon(1e-5).margin(1e-7));
  CHECK_THAT(values(nn::Sigmoid()(x)),
             Catch::Approx<double>({0.119202922, 0.5, 0.731058579}).epsilon(1e-5));
  CHECK_THAT(values(nn::Tanh()(x)),
             Catch::Approx<double>({-0.964027580, 0, 0.761594156}).epsilon(1e-5).margin(1e-7));
  CHECK(nn::Softmax(0)(x).sum().item<double>() == Approx(1));
  CHECK_THAT(values(nn::LogSoftmax(0)(x).exp()),
             Catch::Approx<double>(values(nn::Softmax(0)(x))).epsilon(1e-5));
}

TEST_CASE("losses") {
  const Tensor scores = vector_of({1, 2, 0, 1}).view({2, 2});
  const Tensor target = vector_of({0, 1}, kLong);
  const double first = 1.3132616875, second = 0.3132616875;
  CHECK(nn::CrossEntropyLoss()(scores, target).item<double>() ==
        Approx((first + second) / 2).epsilon(1e-6));
  CHECK_THAT(
      values(F::cross_entropy(scores, target, F::CrossEntropyFuncOptions().reduction(kNone))),
      Catch::Approx<double>({first, second}).epsilon(1e-6));
  CHECK(nn::NLLLoss(nn::NLLLossOptions().reduction(kSum))(nn::LogSoftmax(1)(scores), target)
            .item<double>() == Approx(first + second).epsilon(1e-6));
  CHECK(nn::MSELoss()(vector_of({1, 2}), vector_of({3, 2})).item<double>() == 2);
}

TEST_CASE("an empty sequential cannot be called") {
  nn::Sequential net;
  CHECK_THROWS_WITH(net(Tensor()), "Cannot call forward() on an empty Sequential");
  net->push_back("named", nn::Identity());
  CHECK(net->named_children().keys() == std::vector<std::string>{"named"});
  CHECK_THROWS_AS(net->ptr(1), IndexError);
}
