#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/nn/modules/rnn_cell.h"
#include "runtime/nn/modules/rnn_layer.h"
#include "runtime/nn/utils/rnn.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/select.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/transpose.h"
#include "tests/runtime/nn/numbered.h"

using namespace tenon;
using namespace tenon::nn;
using namespace tenon::test;

namespace {

/// A sequence of 3 steps, 2 in the batch, 2 features.
Tensor sequences() { return numbered({3, 2, 2}, 6); }

template <class Options>
Options two_layers_of_both_directions() {
  return Options(2, 3).num_layers(2).bidirectional(true).batch_first(true);
}

template <class M>
std::string text_of(const ModuleHolder<M>& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

}  // namespace

// The numbers are those of torch.nn with the same parameters.
TEST_CASE("rnn: two layers of both directions give PyTorch's numbers") {
  const Tensor input = sequences().transpose(0, 1);
  const auto check = [](const Tensor& output, const Tensor& state, const std::vector<double>& first,
                        double sum, double state_sum) {
    CHECK(is_near(output.select(0, 0).select(0, 0), first));
    CHECK(output.sum().item<double>() == Approx(sum).epsilon(1e-5));
    CHECK(state.sum().item<double>() == Approx(state_sum).epsilon(1e-5));
  };
  {
    RNN rnn(two_layers_of_both_directions<RNNOptions>());
    fill_parameters(*rnn);
    const auto [output, state] = rnn(input);
    CHECK(output.sizes() == IntArrayRef({2, 3, 6}));
    CHECK(state.sizes() == IntArrayRef({4, 2, 3}));
    check(output, state, {-0.538335, -0.13889, 0.311514, -0.496514, -0.019007, 0.467332}, 1.094995,
          0.439141);
  }
  {
    RNN rnn(two_layers_of_both_directions<RNNOptions>().nonlinearity(kReLU));
    fill_parameters(*rnn);
    const auto [output, state] = rnn(input);
    check(output, state, {0, 0, 0.690711, 0, 0.220709, 1.675139}, 23.764532, 13.664657);
  }
  {
    GRU gru(two_layers_of_both_directions<GRUOptions>());
    fill_parameters(*gru);
    const auto [output, state] = gru(input);
    check(output, state, {0.220103, 0.261756, 0.278016, 0.50171, 0.601131, 0.600237}, 17.832607,
          11.61499);
  }
  {
    LSTM lstm(two_layers_of_both_directions<LSTMOptions>().proj_size(1));
    fill_parameters(*lstm);
    const auto [output, states] = lstm(input);
    const auto& [h, c] = states;
    CHECK(h.sizes() == IntArrayRef({4, 2, 1}));
    CHECK(c.sizes() == IntArrayRef({4, 2, 3}));
    check(output, cat({h.flatten(), c.flatten()}), {0.014612, 0.027884}, 0.264802, 4.789333);
  }
}

TEST_CASE("rnn: names, order and first values of parameters are PyTorch's") {
  LSTM lstm(two_layers_of_both_directions<LSTMOptions>().proj_size(1));
  const std::vector<std::string> names = lstm->named_parameters().keys();
  REQUIRE(names.size() == 20);
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 6) ==
        std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0",
                                 "weight_hr_l0", "weight_ih_l0_reverse"});
  CHECK(names.back() == "weight_hr_l1_reverse");
  const std::vector<Tensor> weights = lstm->all_weights();
  REQUIRE(weights.size() == 20);
  CHECK(weights[5].sizes() == IntArrayRef({12, 2}));
  CHECK(weights[5].data_ptr() == lstm->named_parameters()["weight_ih_l0_reverse"].data_ptr());

  manual_seed(3);
  LSTM small(1, 1);
  const std::vector<Tensor> all = small->all_weights();
  CHECK(is_near(cat({all[0].flatten(), all[1].flatten(), all[2], all[3]}),
                {-0.991473, -0.788861, -0.428315, -0.94609, -0.056771, -0.879767, 0.543732,
                 0.487399, 0.188842, 0.775713, -0.097937, 0.598981, -0.700318, -0.197062, -0.891646,
                 -0.08119}));
}

TEST_CASE("rnn: the state of one half is where the other goes on, alone or packed") {
  LSTM lstm(2, 3);
  const Tensor x = sequences();
  const auto [whole, last] = lstm(x);
  const auto [first, state] = lstm(x.slice(0, 0, 2));
  const auto [second, end] = lstm(x.slice(0, 2, 3), state);
  CHECK(is_near(cat({first, second}), values(whole)));
  CHECK(is_near(std::get<1>(end), values(std::get<1>(last))));

  GRU gru(2, 3);
  fill_parameters(*gru);
  const auto packed = utils::rnn::pack_sequence(
      {x.slice(0, 0, 1).select(1, 0), x.select(1, 1), x.slice(0, 0, 2).select(1, 0)},
      /*enforce_sorted=*/false);
  const auto [output, h] = gru->forward_with_packed_input(packed);
  CHECK(is_near(h, {-0.072907, -0.091332, -0.108656, 0.461689, 0.50911, 0.500961, 0.065343,
                    0.090815, 0.109698}));
  CHECK(is_near(output.data().select(0, 0), {0.019415, 0.036237, 0.053744}));
  CHECK(output.data().sum().item<double>() == Approx(2.091099).epsilon(1e-5));
  // The states that are given are in the order of the sequences, not of their lengths.
  const auto again = gru->forward_with_packed_input(packed, h);
  const auto alone = gru(x.select(1, 1).unsqueeze(1), h.slice(1, 1, 2));
  CHECK(is_near(std::get<1>(again).select(1, 1), values(std::get<1>(alone))));
}

TEST_CASE("rnn: gradients reach all weights, a clone has weights of its own") {
  GRU gru(GRUOptions(2, 3).num_layers(2).dropout(0.5));
  std::get<0>(gru(sequences())).sum().backward();
  for (const Tensor& weight : gru->all_weights()) CHECK(weight.grad().defined());

  const auto copy = std::dynamic_pointer_cast<GRUImpl>(gru->clone());
  gru->eval();
  copy->eval();
  CHECK(is_near(std::get<0>(copy->forward(sequences())), values(std::get<0>(gru(sequences())))));
  fill_parameters(*copy);
  CHECK(copy->all_weights()[0].data_ptr() != gru->all_weights()[0].data_ptr());
  CHECK(!is_near(std::get<0>(copy->forward(sequences())), values(std::get<0>(gru(sequences())))));
  gru->to(kDouble);
  CHECK(std::get<0>(gru(sequences().to(kDouble))).dtype() == kDouble);
}

TEST_CASE("rnn: cells give PyTorch's numbers") {
  const Tensor x = sequences().select(0, 0);
  RNNCell rnn(RNNCellOptions(2, 3).bias(false));
  fill_parameters(*rnn);
  CHECK(is_near(rnn(x), {0.533085, -0.016665, -0.55652, 0.365599, -0.005556, -0.375185}));
  LSTMCell lstm(LSTMCellOptions(2, 3).bias(false));
  fill_parameters(*lstm);
  const auto [h, c] = lstm(x);
  CHECK(is_near(h, {-0.047997, -0.067113, -0.076094, -0.032772, -0.049882, -0.062196}));
  CHECK(is_near(c, {-0.14337, -0.224598, -0.286857, -0.083302, -0.13514, -0.180156}));
  GRUCell gru(GRUCellOptions(2, 3).bias(false));
  fill_parameters(*gru);
  CHECK(is_near(gru(x), {-0.235384, -0.334286, -0.42868, -0.159162, -0.227196, -0.29579}));
  CHECK(gru->named_parameters().keys() == std::vector<std::string>{"weight_ih", "weight_hh"});

  // A cell is a step of the layer.
  LSTM layer(2, 3);
  LSTMCell cell(2, 3);
  fill_parameters(*layer);
  fill_parameters(*cell);
  const auto [output, last] = layer(sequences());
  std::tuple<Tensor, Tensor> state = cell(x);
  for (int64_t step : {1, 2}) state = cell(sequences().select(0, step), state);
  CHECK(is_near(std::get<0>(state), values(output.select(0, 2))));
  CHECK(is_near(std::get<1>(state), values(std::get<1>(last))));
}

TEST_CASE("rnn: texts and errors") {
  CHECK(text_of(LSTM(LSTMOptions(4, 3).num_layers(2).proj_size(2).dropout(0.5))) ==
        "torch::nn::LSTM(input_size=4, hidden_size=3, num_layers=2, bias=true, batch_first=false, "
        "dropout=0.5, bidirectional=false, proj_size=2)");
  CHECK(text_of(RNNCell(RNNCellOptions(4, 3).bias(false).nonlinearity(kReLU))) ==
        "torch::nn::RNNCell(4, 3, bias=false, nonlinearity=kReLU)");
  CHECK_THROWS_WITH(GRU(GRUOptions(2, 3).dropout(2)),
                    Catch::Contains("dropout should be a number in range [0, 1]"));
  CHECK_THROWS_WITH(LSTM(LSTMOptions(2, 3).proj_size(3)),
                    Catch::Contains("proj_size has to be a positive integer, smaller than"));
  GRU gru(2, 3);
  CHECK_THROWS_WITH(gru(ones({3, 2})), "[GRU] input must have 3 dimensions, got 2");
  CHECK_THROWS_WITH(gru(ones({3, 2, 4})),
                    "[GRU] input.size(-1) must be equal to input_size. Expected 2, got 4");
  CHECK_THROWS_WITH(gru(ones({3, 5, 2}), ones({1, 4, 3})),
                    "[GRU] Expected hidden size [1, 5, 3], got [1, 4, 3]");
  LSTM lstm(2, 3);
  CHECK_THROWS_WITH(lstm(ones({3, 5, 2}), std::make_tuple(ones({1, 5, 3}), ones({1, 5, 2}))),
                    "[LSTM] Expected hidden[1] size [1, 5, 3], got [1, 5, 2]");
  LSTMCell cell(2, 3);
  CHECK_THROWS_WITH(cell(ones({5, 4})),
                    Catch::Contains("input has inconsistent input_size: got 4 expected 2"));
  CHECK_THROWS_WITH(cell(ones({5, 2}), std::make_tuple(ones({5, 3}), ones({4, 3}))),
                    Catch::Contains("Input batch size 5 doesn't match hidden[1] batch size 4"));
}
