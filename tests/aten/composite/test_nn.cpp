#include <functional>

#include "aten/core/generator.h"
#include "aten/core/thread_state.h"
#include "aten/generated_support/tensor_factories.h"
#include "autograd/autograd.h"
#include "tenon/ops/adaptive_avg_pool2d.h"
#include "tenon/ops/add.h"
#include "tenon/ops/addmm.h"
#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/baddbmm.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/bmm.h"
#include "tenon/ops/conv1d.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/conv_transpose2d.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/dot.h"
#include "tenon/ops/dropout.h"
#include "tenon/ops/embedding.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/mm.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/mv.h"
#include "tenon/ops/native_dropout.h"
#include "tenon/ops/nll_loss.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/square.h"
#include "tenon/ops/sum.h"
#include "tests/aten/cpu/reference.h"

using namespace tenon;
using namespace tenon::test;

namespace {

constexpr int64_t kZero = 0, kOne = 1;

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

/// The function's result as one number: its product with fixed weights.
Tensor project(const Tensor& out, const Tensor& weights) {
  return tenon::sum(tenon::mul(out, weights));
}

Tensor weights_for(const Tensor& out) {
  Tensor w = empty(out.sizes(), kDouble, kCPU);
  double x = 0.3;
  for (int64_t i = 0; i < w.numel(); ++i, x = std::fmod(x * 3.7 + 0.11, 2.0))
    w.data_ptr<double>()[i] = x - 0.9;
  return w;
}

/// Central differences of f against its gradients, both in double.
void check_first(const Function& f, const Inputs& inputs, double tolerance) {
  for (const Tensor& t : inputs) t.requires_grad_();
  const Tensor out = f(inputs), w = weights_for(out);
  const std::vector<Tensor> grads = autograd::grad({project(out, w)}, inputs, {}, {}, false, true);
  NoGradGuard guard;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Values got = grads[k].defined() ? values(grads[k]) : Values(inputs[k].numel(), 0);
    double* x = inputs[k].data_ptr<double>();
    for (int64_t i = 0; i < inputs[k].numel(); ++i) {
      const double old = x[i], step = 1e-6;
      x[i] = old + step;
      const double up = values(project(f(inputs), w))[0];
      x[i] = old - step;
      const double down = values(project(f(inputs), w))[0];
      x[i] = old;
      INFO("gradient of input " << k << ", element " << i);
      REQUIRE(got[i] == Approx((up - down) / (2 * step)).margin(tolerance).epsilon(tolerance));
    }
  }
}

/// First derivatives, and then the derivatives of those.
void check(const Function& f, const Inputs& inputs, double tolerance = 1e-5) {
  check_first(f, inputs, tolerance);
  const Function gradients = [&](const Inputs& in) {
    const AutoGradMode recording(true);  // also while differences are taken
    for (const Tensor& t : in) t.requires_grad_();
    const Tensor out = f(in);
    const std::vector<Tensor> grads =
        autograd::grad({project(out, weights_for(out))}, in, {}, true, true, true);
    Tensor total;
    for (const Tensor& g : grads) {
      if (!g.defined() || !g.requires_grad()) continue;
      const Tensor part = project(g, weights_for(g));
      total = total.defined() ? tenon::add(total, part) : part;
    }
    return total.defined() ? total : tenon::sum(tenon::mul(in[0], Scalar(0)));
  };
  check_first(gradients, inputs, tolerance);
}

Tensor rnd(IntArrayRef sizes) { return random_tensor(sizes, kDouble); }
Tensor longs(IntArrayRef sizes, const Values& v) { return tensor_of(sizes, kLong, v); }

}  // namespace

TEST_CASE("gradients of the matrix products") {
  check([](const Inputs& x) { return tenon::mm(x[0], x[1]); }, {rnd({2, 3}), rnd({3, 4})});
  check([](const Inputs& x) { return tenon::bmm(x[0], x[1]); }, {rnd({2, 2, 3}), rnd({2, 3, 2})});
  check([](const Inputs& x) { return tenon::addmm(x[0], x[1], x[2], 2, 3); },
        {rnd({2, 4}), rnd({2, 3}), rnd({3, 4})});
  check([](const Inputs& x) { return tenon::addmm(x[0], x[1], x[2]); },
        {rnd(4), rnd({2, 3}), rnd({3, 4})});
  check([](const Inputs& x) { return tenon::baddbmm(x[0], x[1], x[2], 2, 3); },
        {rnd({2, 2, 2}), rnd({2, 2, 3}), rnd({2, 3, 2})});
  check([](const Inputs& x) { return tenon::mv(x[0], x[1]); }, {rnd({2, 3}), rnd(3)});
  check([](const Inputs& x) { return tenon::dot(x[0], x[1]); }, {rnd(3), rnd(3)});
}

TEST_CASE("matmul of every pair of ranks has PyTorch's shape, and gradients") {
  const std::vector<std::tuple<DimVector, DimVector, DimVector>> cases = {
      {{3}, {3}, {}},
      {{2, 3}, {3}, {2}},
      {{3}, {3, 4}, {4}},
      {{2, 3}, {3, 4}, {2, 4}},
      {{2, 2, 3}, {3, 4}, {2, 2, 4}},
      {{2, 2, 3}, {3}, {2, 2}},
      {{3}, {2, 3, 4}, {2, 4}},
      {{2, 3}, {2, 3, 4}, {2, 2, 4}},
      {{2, 1, 2, 3}, {3, 3, 2}, {2, 3, 2, 2}}};
  for (const auto& [a, b, out] : cases) {
    INFO(a << " @ " << b);
    const Inputs in{rnd(a), rnd(b)};
    REQUIRE(tenon::matmul(in[0], in[1]).sizes() == IntArrayRef(out));
    check([](const Inputs& x) { return tenon::matmul(x[0], x[1]); }, in);
  }
  require_error(
      [] {
        tenon::matmul(rnd(IntArrayRef()), rnd({2, 2}));
      },
      "both arguments to matmul need to be at least 1D");
  require_error(
      [] {
        tenon::matmul(rnd({2, 2, 3}), rnd({3, 3, 2}));
      },
      "The size of tensor a (2) must match");
  require_error([] { tenon::matmul(rnd({2, 3}), rnd({2, 3})); }, "cannot be multiplied");
}

TEST_CASE("gradients of linear") {
  check([](const Inputs& x) { return tenon::linear(x[0], x[1], x[2]); },
        {rnd({2, 3}), rnd({4, 3}), rnd(4)});
  check([](const Inputs& x) { return tenon::linear(x[0], x[1]); }, {rnd({2, 2, 3}), rnd({4, 3})});
  check([](const Inputs& x) { return tenon::linear(x[0], x[1], x[2]); },
        {rnd(3), rnd({4, 3}), rnd(4)});
}

TEST_CASE("gradients of convolutions") {
  check([](const Inputs& x) { return tenon::conv2d(x[0], x[1], x[2], 2, kOne); },
        {rnd({2, 2, 4, 5}), rnd({2, 2, 3, 2}), rnd(2)});
  check([](const Inputs& x) { return tenon::conv1d(x[0], x[1], x[2], 1, kZero); },
        {rnd({1, 2, 5}), rnd({2, 2, 3}), rnd(2)});
  check([](const Inputs& x) { return tenon::conv2d(x[0], x[1], {}, 1, kZero, 1, 2); },
        {rnd({2, 3, 4}), rnd({4, 1, 2, 2})});
  check([](const Inputs& x) { return tenon::conv_transpose2d(x[0], x[1], x[2], 2, 1, 1); },
        {rnd({1, 2, 3, 2}), rnd({2, 2, 3, 3}), rnd(2)});
}

TEST_CASE("conv2d with padding by name") {
  const Tensor x = rnd({1, 2, 6, 7}), w = rnd({3, 2, 3, 4});
  REQUIRE(tenon::conv2d(x, w, {}, 1, "same").sizes() == IntArrayRef({1, 3, 6, 7}));
  require_close(tenon::conv2d(x, w, {}, 1, "valid"), values(tenon::conv2d(x, w, {}, 1, kZero)),
                1e-12);
  require_error([&] { tenon::conv2d(x, w, {}, 2, "same"); },
                "not supported for strided convolutions");
  require_error([&] { tenon::conv2d(x, w, {}, 1, "sane"); }, "Invalid padding string: 'sane'");
  require_error(
      [&] {
        tenon::conv2d(rnd({6, 7}), w, {}, 1, kZero);
      },
      "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [6, 7]");
}

TEST_CASE("gradients of pooling") {
  const Inputs x{rnd({1, 2, 5, 6})};
  check([](const Inputs& in) { return tenon::max_pool2d(in[0], 2, 2, 1); }, x);
  check([](const Inputs& in) { return tenon::max_pool2d(in[0], 3, 1); }, x);
  check([](const Inputs& in) { return tenon::avg_pool2d(in[0], 2, 1, 1, false, false); }, x);
  check([](const Inputs& in) { return tenon::adaptive_avg_pool2d(in[0], {2, 4}); }, x);
  check([](const Inputs& in) { return tenon::adaptive_avg_pool2d(in[0], {1, 1}); }, x);
}

TEST_CASE("gradients of normalisations") {
  const auto square = [](const Tensor& t) {
    return tenon::mul(t, t);
  };  // the plain sum's derivative is zero
  check([&](const Inputs& x) { return square(tenon::layer_norm(x[0], {3}, x[1], x[2])); },
        {rnd({2, 3}), rnd(3), rnd(3)}, 2e-4);
  check(
      [&](const Inputs& x) {
        return square(tenon::layer_norm(x[0], {2, 2}));
      },
      {rnd({2, 2, 2})}, 2e-4);
  check(
      [&](const Inputs& x) {
        return square(tenon::batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5, false));
      },
      {rnd({3, 2, 2, 1}), rnd(2), rnd(2)}, 2e-4);
  const Tensor mean = rnd(2), var = tensor_of(2, kDouble, {0.7, 1.3});
  check(
      [&](const Inputs& x) {
        return square(tenon::batch_norm(x[0], x[1], x[2], mean, var, false, 0.1, 1e-5, false));
      },
      {rnd({3, 2}), rnd(2), rnd(2)}, 2e-4);
}

TEST_CASE("batch_norm may run twice in training before backward") {
  const Tensor mean = tensor_of(2, kDouble, {0, 0}), var = tensor_of(2, kDouble, {1, 1});
  const Tensor x = rnd({4, 2}).requires_grad_();
  const Tensor a = tenon::batch_norm(x, {}, {}, mean, var, true, 0.1, 1e-5, false);
  const Tensor b = tenon::batch_norm(x, {}, {}, mean, var, true, 0.1, 1e-5, false);
  autograd::backward({tenon::sum(tenon::mul(a, b))});
  REQUIRE(x.grad().defined());
  REQUIRE(values(mean)[0] != 0);
}

TEST_CASE("gradients of softmax") {
  for (const int64_t dim : {0, 1, -1}) {
    check([=](const Inputs& x) { return tenon::softmax(x[0], dim); }, {rnd({3, 4})});
    check([=](const Inputs& x) { return tenon::log_softmax(x[0], dim); }, {rnd({3, 4})});
  }
  REQUIRE(tenon::softmax(random_tensor({2, 3}), 1, kDouble).scalar_type() == kDouble);
}

TEST_CASE("gradients of losses") {
  const Tensor t = longs(3, {1, 0, 3}), w = tensor_of(4, kDouble, {1, 2, 0.5, 3});
  for (int64_t reduction = 0; reduction < 3; ++reduction) {
    check([&](const Inputs& x) { return tenon::nll_loss(x[0], t, w, reduction); }, {rnd({3, 4})});
    check([&](const Inputs& x) { return tenon::cross_entropy_loss(x[0], t, w, reduction, 3); },
          {rnd({3, 4})});
    check([&](const Inputs& x) { return tenon::cross_entropy_loss(x[0], t, w, reduction, 3, 0.2); },
          {rnd({3, 4})});
    check(
        [&](const Inputs& x) {
          return tenon::cross_entropy_loss(x[0], x[1], w, reduction, -100, 0.1);
        },
        {rnd({3, 4}), rnd({3, 4})});
    check([&](const Inputs& x) { return tenon::mse_loss(x[0], x[1], reduction); },
          {rnd({2, 3}), rnd({2, 3})});
  }
}

TEST_CASE("cross_entropy_loss by its definition") {
  const Tensor x = rnd({4, 3}), t = longs(4, {2, 0, -100, 1}),
               w = tensor_of(3, kDouble, {0.5, 1, 2});
  const Values xv = values(x), tv = values(t), wv = values(w);
  const double s = 0.1;
  double hard = 0, smooth = 0, weight = 0;
  for (int i = 0; i < 4; ++i) {
    if (tv[i] < 0) continue;
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += std::exp(xv[i * 3 + c]);
    const int k = static_cast<int>(tv[i]);
    hard -= wv[k] * (xv[i * 3 + k] - std::log(sum));
    for (int c = 0; c < 3; ++c) smooth -= wv[c] * (xv[i * 3 + c] - std::log(sum));
    weight += wv[k];
  }
  require_close(tenon::cross_entropy_loss(x, t, w), {hard / weight}, 1e-10);
  require_close(tenon::cross_entropy_loss(x, t, w, 1, -100, s),
                {((1 - s) * hard + s / 3 * smooth) / weight}, 1e-10);
  require_close(tenon::cross_entropy_loss(x, t, w, 2, -100, s), {(1 - s) * hard + s / 3 * smooth},
                1e-10);
  // Further dimensions are more samples.
  const Tensor images = rnd({2, 3, 2, 2}), labels = longs({2, 2, 2}, {0, 1, 2, 0, 1, 1, 2, 2});
  const Tensor rows = tenon::reshape(tenon::permute(images, {0, 2, 3, 1}), {8, 3});
  require_close(tenon::cross_entropy_loss(images, labels),
                values(tenon::cross_entropy_loss(rows, tenon::reshape(labels, {8}))), 1e-10);
  REQUIRE(tenon::cross_entropy_loss(images, labels, {}, 0).sizes() == IntArrayRef({2, 2, 2}));
  require_error(
      [&] {
        tenon::cross_entropy_loss(x, longs(3, {0, 1, 2}));
      },
      "Expected input batch_size (4) to match target batch_size (3).");
  require_error(
      [&] {
        tenon::cross_entropy_loss(x, random_tensor({4, 3}, kLong));
      },
      "Expected floating point type for target with class probabilities, got Long");
}

TEST_CASE("mse_loss of operands that broadcast or differ in dtype") {
  const Tensor a = rnd({2, 3}), b = rnd(3);
  const Values av = values(a), bv = values(b);
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += (av[i] - bv[i % 3]) * (av[i] - bv[i % 3]);
  require_close(tenon::mse_loss(a, b), {sum / 6}, 1e-10);
  check([](const Inputs& x) { return tenon::mse_loss(x[0], x[1]); }, {rnd({2, 3}), rnd(3)});
}

TEST_CASE("gradients of embedding and dropout") {
  const Tensor at = longs({2, 2}, {0, 2, 2, 1});
  check(
      [&](const Inputs& x) {
        return tenon::mul(tenon::embedding(x[0], at), tenon::embedding(x[0], at));
      },
      {rnd({3, 2})});
  check([&](const Inputs& x) { return tenon::embedding(x[0], at, 2); }, {rnd({3, 2})}, 1);
  check(
      [](const Inputs& x) {
        manual_seed(5);
        return tenon::mul(tenon::dropout(x[0], 0.4, true), x[0]);
      },
      {rnd({3, 4})});
  const Tensor x = rnd(3);
  REQUIRE(tenon::dropout(x, 0.5, false).is_same(x));
}

TEST_CASE("dropout keeps the right share, scaled, the same for every seed") {
  const Tensor x = tensor_of(100001, kFloat, Values(100001, 2));
  for (const double p : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const auto [y, mask] = tenon::native_dropout(x, p, true);
    const Values yv = values(y), m = values(mask);
    REQUIRE(mask.scalar_type() == kBool);
    double kept = 0;
    for (size_t i = 0; i < yv.size(); ++i) {
      kept += m[i];
      REQUIRE(yv[i] == Approx(m[i] != 0 ? 2 / (1 - p) : 0));
    }
    REQUIRE(std::abs(kept / 100001 - (1 - p)) < 0.01);
  }
  require_close(std::get<0>(tenon::native_dropout(x, 0.5, false)), values(x), 0);
  manual_seed(3);
  const Values first = values(std::get<0>(tenon::native_dropout(x, 0.5, true)));
  manual_seed(3);
  require_close(std::get<0>(tenon::native_dropout(x, 0.5, {})), first, 0);
  REQUIRE(values(std::get<0>(tenon::native_dropout(x, 0.5, true))) != first);
  REQUIRE_THROWS_WITH(tenon::native_dropout(x, 1.5, true),
                      Catch::Contains("between 0 and 1, but got 1.5"));
  REQUIRE_THROWS_WITH(tenon::native_dropout(x.to(kLong), 0.5, true),
                      Catch::Contains("[dropout] is not implemented for Long"));
}

TEST_CASE("operators on meta tensors give the shapes alone") {
  const auto meta = [](IntArrayRef sizes) { return Tensor(empty(sizes, kFloat, Device(kMeta))); };
  REQUIRE(tenon::mm(meta({2, 3}), meta({3, 4})).sizes() == IntArrayRef({2, 4}));
  REQUIRE(tenon::linear(meta({2, 3}), meta({4, 3}), meta(4)).sizes() == IntArrayRef({2, 4}));
  REQUIRE(tenon::conv2d(meta({1, 3, 8, 8}), meta({4, 3, 3, 3}), {}, 1, kZero).sizes() ==
          IntArrayRef({1, 4, 6, 6}));
  REQUIRE(tenon::max_pool2d(meta({1, 3, 8, 8}), 2).sizes() == IntArrayRef({1, 3, 4, 4}));
  REQUIRE(tenon::softmax(meta({2, 3}), 1).is_meta());
}
