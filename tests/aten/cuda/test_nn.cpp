#include <cmath>
#include <limits>

#include "aten/core/deterministic.h"
#include "tenon/ops/adaptive_avg_pool2d.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/convolution.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/embedding.h"
#include "tenon/ops/index.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/nll_loss.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

/// Values in every floating-point dtype, gradients in double.
void same_values_and_gradients(const Function& f, const std::vector<Tensor>& inputs) {
  for (ScalarType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    INFO(to_string(dtype));
    std::vector<Tensor> converted;
    for (const Tensor& t : inputs) converted.push_back(t.is_floating_point() ? t.to(dtype) : t);
    same_on_both(f, converted, tolerance(dtype) * 20);
  }
  same_gradients(f, inputs);
}

TEST_CASE("softmax and log_softmax") {
  TENON_NEEDS_GPU();
  for (const Tensor& t : {sample({4, 10}, kDouble), sample({3, 3000}, kDouble),
                          sample({5, 7, 6}, kDouble), sample({9}, kDouble)}) {
    INFO(t.sizes());
    same_values_and_gradients(
        [](const Tensors& in) {
          return Tensors{in[0].softmax(0), in[0].softmax(-1), in[0].log_softmax(0),
                         in[0].log_softmax(-1)};
        },
        {t});
  }
}

/// Rows that several blocks share, and rows that do not begin at 16 bytes.
std::vector<Tensor> long_and_odd_rows() {
  return {sample({16387}, kFloat), sample({2, 16400}, kFloat), sample({5, 37}, kFloat),
          sample({3, 2051}, kFloat)};
}

TEST_CASE("softmax of few long rows and of rows that begin anywhere") {
  TENON_NEEDS_GPU();
  const auto f = [](const Tensors& in) {
    // A view that begins one element later.
    return Tensors{in[0].softmax(-1), in[0].view({-1}).slice(0, 1).log_softmax(0)};
  };
  for (const Tensor& t : long_and_odd_rows()) {
    INFO(t.sizes());
    same_on_both(f, {t});
    same_on_both(f, {t.to(kHalf)});
    same_gradients(f, {t});
  }
}

TEST_CASE("softmax of infinities and NaN") {
  TENON_NEEDS_GPU();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (int64_t n : {5, 16400}) {
    Tensor t = sample({4, n}, kFloat);
    t.select(0, 0).fill_(-kInfinity);
    t.select(0, 1).slice(0, 1).fill_(-kInfinity);
    t.select(0, 2).select(0, n / 2).fill_(kInfinity);
    t.select(0, 3).select(0, n - 1).fill_(std::nan(""));
    same_on_both(
        [](const Tensors& in) {
          return Tensors{in[0].softmax(-1), in[0].log_softmax(-1)};
        },
        {t});
  }
}

TEST_CASE("layer_norm of few long rows, and of rows that begin anywhere") {
  TENON_NEEDS_GPU();
  for (const Tensor& t : long_and_odd_rows()) {
    const int64_t n = t.size(-1);
    INFO(t.sizes());
    const auto f = [n](const Tensors& in) {
      return Tensors{tenon::layer_norm(in[0], n, in[1], in[2])};
    };
    const Tensor weight = sample({n}, kFloat, 2), bias = sample({n}, kFloat, 3);
    same_on_both(f, {t, weight, bias});
    same_on_both(f, {t.to(kHalf), weight.to(kHalf), bias.to(kHalf)}, tolerance(kHalf) * 5);
    same_gradients(f, {t, weight, bias}, 2e-4);
  }
}

TEST_CASE("moments of numbers far from 0 keep their digits") {
  TENON_NEEDS_GPU();
  // Spread 1 around 100000: float has steps of 0.008 there, and squares of 800.
  const Tensor t = sample({2, 5000}, kFloat).add(1e5);
  const Tensor exact = t.to(kDouble);
  const auto same = [](const Tensor& expected, const Tensor& actual, double limit) {
    const std::string text = difference(expected, actual.cpu().to(kDouble), limit);
    if (!text.empty()) FAIL_CHECK(text);
  };
  same(exact.var(-1), t.cuda().var(-1), 1e-6);
  same(exact.var(0), t.cuda().var(0), 1e-6);
  // The mean itself is rounded to a float, by 0.004.
  same(tenon::layer_norm(exact, 5000), tenon::layer_norm(t.cuda(), 5000), 1e-2);
  const Tensor none;
  same(tenon::batch_norm(exact.t(), {}, {}, none, none, true, 0.1, 1e-5, true),
       tenon::batch_norm(t.cuda().t(), {}, {}, none, none, true, 0.1, 1e-5, true), 1e-2);
}

TEST_CASE("layer_norm") {
  TENON_NEEDS_GPU();
  for (int64_t n : {1, 10, 768, 5000}) {
    INFO(n);
    const Tensors inputs{sample({6, 5, n}, kDouble), sample({n}, kDouble, 2),
                         sample({n}, kDouble, 3)};
    same_values_and_gradients(
        [n](const Tensors& in) { return Tensors{tenon::layer_norm(in[0], n, in[1], in[2])}; },
        inputs);
    same_values_and_gradients(
        [n](const Tensors& in) { return Tensors{tenon::layer_norm(in[0], n)}; }, {inputs[0]});
  }
}

TEST_CASE("batch_norm") {
  TENON_NEEDS_GPU();
  for (bool training : {true, false}) {
    same_values_and_gradients(
        [training](const Tensors& in) {
          Tensor mean = tenon::zeros({6}, in[0].options()), var = tenon::ones({6}, in[0].options());
          const Tensor out =
              tenon::batch_norm(in[0], in[1], in[2], mean, var, training, 0.1, 1e-5, true);
          return Tensors{out, mean, var};
        },
        {sample({8, 6, 5, 4}, kDouble), sample({6}, kDouble, 2), sample({6}, kDouble, 3)});
  }
}

TEST_CASE("batch_norm of many elements per channel, channels first and last") {
  TENON_NEEDS_GPU();
  for (MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    const auto f = [format](const Tensors& in) {
      const Tensor x = in[0].contiguous(format), none;
      const Tensor out = tenon::batch_norm(x, in[1], in[2], none, none, true, 0.1, 1e-5, true);
      CHECK(out.is_contiguous(format));
      return Tensors{out};
    };
    const Tensors inputs{sample({5, 3, 31, 33}, kFloat), sample({3}, kFloat, 2),
                         sample({3}, kFloat, 3)};
    same_on_both(f, inputs);
    same_gradients(f, inputs, 2e-4);
  }
}

TEST_CASE("losses of many rows") {
  TENON_NEEDS_GPU();
  const Tensor target = tenon::arange(10000).remainder(3);
  for (int64_t reduction : {1, 2}) {
    same_on_both(
        [reduction](const Tensors& in) {
          return Tensors{tenon::nll_loss(in[0], in[1], in[2], reduction, 1)};
        },
        {sample({10000, 3}, kFloat), target, sample({3}, kFloat, 2).abs()});
  }
}

TEST_CASE("losses") {
  TENON_NEEDS_GPU();
  const Tensor target = tenon::arange(300).remainder(7);
  for (int64_t reduction : {0, 1, 2}) {
    INFO(reduction);
    same_values_and_gradients(
        [reduction](const Tensors& in) {
          return Tensors{tenon::nll_loss(in[0], in[1], {}, reduction),
                         tenon::nll_loss(in[0], in[1], in[2].detach(), reduction, 3),
                         tenon::cross_entropy_loss(in[0], in[1], {}, reduction),
                         tenon::mse_loss(in[0], in[3], reduction)};
        },
        {sample({300, 7}, kDouble), target, sample({7}, kDouble, 2).abs(),
         sample({300, 7}, kDouble, 3)});
  }
}

TEST_CASE("embedding and indexing") {
  TENON_NEEDS_GPU();
  const Tensor index = tenon::arange(60).mul(7).remainder(11).view({6, 10});
  same_values_and_gradients(
      [](const Tensors& in) { return Tensors{tenon::embedding(in[0], in[1], 3)}; },
      {sample({11, 8}, kDouble), index});
  same_values_and_gradients(
      [](const Tensors& in) { return Tensors{tenon::embedding(in[0], in[1], -1, true)}; },
      {sample({11, 8}, kDouble), index});
  same_values_and_gradients(
      [](const Tensors& in) {
        return Tensors{in[0].index_select(1, in[1].select(0, 0)),
                       in[0].gather(1, in[1].slice(0, 0, 4)),
                       in[0].scatter_add(1, in[1].slice(0, 0, 4), in[2]),
                       in[0].scatter(1, in[1].slice(0, 0, 4), 2.0),
                       in[0].index_add(1, in[1].select(0, 1), in[2]),
                       in[0].index_fill(0, in[1].select(0, 0).slice(0, 0, 1), 3)};
      },
      {sample({4, 11}, kDouble), index, sample({4, 10}, kDouble, 2)});
}

TEST_CASE("sums by index in an order that does not change") {
  TENON_NEEDS_GPU();
  const auto f = [](const Tensors& in) {
    Tensor put = in[0].clone();
    put.index_put_({in[1]}, in[2], true);
    return Tensors{put, in[0].scatter_add(0, in[1], in[2]), in[0].index_add(0, in[1], in[2], 3),
                   tenon::embedding(in[0].view({7, 1}), in[1])};
  };
  const Tensors inputs{sample({7}, kFloat), tenon::arange(3000).mul(5).remainder(7),
                       sample({3000}, kFloat, 2).mul(1e4)};
  // In the order of elements, a float at a time, as the CPU adds: to the last bit.
  set_deterministic_algorithms(true);
  same_on_both(f, inputs, 0);
  same_gradients(f, {inputs[0].to(kDouble), inputs[1], inputs[2].to(kDouble)});
  same_gradients([](const Tensors& in) { return Tensors{tenon::max_pool2d(in[0], 3, 1)}; },
                 {sample({2, 3, 10, 9}, kDouble)});
  set_deterministic_algorithms(false);
  same_on_both(f, inputs);
}

TEST_CASE("products by index") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype : {kBool, kByte, kLong, kFloat, kDouble, kComplexFloat, kComplexDouble}) {
    INFO(to_string(dtype));
    same_on_both(
        [](const Tensors& in) {
          return Tensors{in[0].scatter(1, in[1], in[2], "multiply"),
                         in[0].scatter(1, in[1], 3, "multiply"), in[0].scatter(1, in[1], 3, "add")};
        },
        {sample({3, 4}, dtype), tenon::arange(60).remainder(4).view({3, 20}),
         sample({3, 20}, dtype, 2)});
  }
}

TEST_CASE("masks as indices stay on the GPU") {
  TENON_NEEDS_GPU();
  same_on_both(
      [](const Tensors& in) {
        Tensor put = in[0].clone();
        const Tensor mask = in[0].gt(0);
        put.index_put_({mask}, in[1].select(0, 0));
        return Tensors{tenon::index(in[0], {mask}), put};
      },
      {sample({40, 50}, kFloat), sample({1}, kFloat, 2)});
}

TEST_CASE("joining and rearranging") {
  TENON_NEEDS_GPU();
  same_values_and_gradients(
      [](const Tensors& in) {
        return Tensors{tenon::cat({in[0], in[1]}, 1),
                       tenon::cat({in[0].t(), in[1].t()}, 0),
                       tenon::stack({in[0], in[0]}, 1),
                       in[0].repeat({2, 1, 3}),
                       in[0].flip({0, 1}),
                       in[0].roll({1, -2}, {0, 1}),
                       in[0].roll(3),
                       tenon::constant_pad_nd(in[0], {1, 2, -1, 3}, 0.5),
                       in[0].tril(1),
                       in[0].triu(-1)};
      },
      {sample({4, 5}, kDouble), sample({4, 3}, kDouble, 2)});
}

TEST_CASE("convolution") {
  TENON_NEEDS_GPU();
  struct Case {
    std::vector<int64_t> input, weight, stride, padding, dilation, output_padding;
    bool transposed;
    int64_t groups, bias;
  };
  const Case cases[] = {
      {{2, 3, 9, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1, 4},
      {{2, 4, 9, 8}, {6, 2, 3, 2}, {2, 1}, {0, 1}, {1, 2}, {0, 0}, false, 2, 6},
      {{2, 4, 7, 6}, {4, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 0}, true, 1, 3},
      {{2, 4, 7, 6}, {4, 3, 3, 3}, {1, 2}, {1, 0}, {2, 1}, {0, 0}, true, 2, 6},
      {{2, 3, 20}, {5, 3, 4}, {3}, {2}, {1}, {0}, false, 1, 5},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {1, 1, 1}, {0, 0, 0}, false, 1, 3},
  };
  const auto convolve = [](const Case& c) {
    return [&c](const Tensors& in) {
      return Tensors{tenon::convolution(in[0], in[1], in[2], c.stride, c.padding, c.dilation,
                                        c.transposed, c.output_padding, c.groups)};
    };
  };
  for (const Case& c : cases) {
    INFO(IntArrayRef(c.input) << " with " << IntArrayRef(c.weight));
    const auto operands = [&c](ScalarType dtype) {
      return Tensors{sample(c.input, dtype), sample(c.weight, dtype, 2),
                     sample({c.bias}, dtype, 3)};
    };
    same_values_and_gradients(convolve(c), operands(kDouble));
    same_on_both(convolve(c), operands(kComplexFloat));
    same_on_both(convolve(c), operands(kLong));
  }
}

TEST_CASE("pooling") {
  TENON_NEEDS_GPU();
  same_values_and_gradients(
      [](const Tensors& in) {
        return Tensors{tenon::max_pool2d(in[0], 2),
                       tenon::max_pool2d(in[0], {3, 2}, {2, 1}, {1, 1}, 1, true),
                       tenon::avg_pool2d(in[0], 2),
                       tenon::avg_pool2d(in[0], {3, 2}, {2, 1}, {1, 1}, true, false),
                       tenon::avg_pool2d(in[0], 3, 2, 1, false, true, 5),
                       tenon::adaptive_avg_pool2d(in[0], {3, 4})};
      },
      {sample({2, 3, 10, 9}, kDouble)});
}

TEST_CASE("a LeNet's loss and gradients") {
  TENON_NEEDS_GPU();
  const Tensor target = tenon::arange(8).remainder(10);
  const std::vector<int64_t> no_padding{0, 0};
  same_gradients(
      [&](const Tensors& in) {
        Tensor x = tenon::max_pool2d(tenon::conv2d(in[0], in[2], in[3], 1, 2).relu(), 2);
        x = tenon::max_pool2d(tenon::conv2d(x, in[4], in[5], 1, no_padding).relu(), 2).flatten(1);
        return Tensors{tenon::cross_entropy_loss(tenon::linear(x, in[6], in[7]), in[1])};
      },
      {sample({8, 1, 28, 28}, kDouble), target, sample({6, 1, 5, 5}, kDouble, 2),
       sample({6}, kDouble, 3), sample({16, 6, 5, 5}, kDouble, 4), sample({16}, kDouble, 5),
       sample({10, 400}, kDouble, 6), sample({10}, kDouble, 7)});
}

}  // namespace
}  // namespace tenon::test
