// Operators of a YAML file in a library of the stable interface, beside the same made of operators.
#include "aten/dispatch/load_library.h"
#include "aten/generated_support/tensor_factories.h"
#include "aten/registration/library.h"
#include "autograd/autograd.h"
#include "autograd/forward/forward_ad.h"
#include "autograd/func.h"
#include "autograd/tools/gradcheck.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/log.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/rsqrt.h"
#include "tenon/ops/sigmoid.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/where.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

struct Case {
  const char* name;
  Function ours, reference;
  std::vector<int64_t> second;  ///< the sizes of the second argument
};

Tensor call(const char* name, Stack stack) {
  get_operator(name).call_boxed(stack);
  return Tensor(stack.at(0).to_tensor());
}

std::vector<Case> cases() {
  load_library(TENON_TEST_STABLE "stable_operators.so");
  return {
      {"gate",
       [](const Tensor& x, const Tensor& y) {
         return call("stable_ops::gate", {TensorBase(x), TensorBase(y), 0.25});
       },
       [](const Tensor& x, const Tensor& y) { return where(x > 0, x, x * 0.25) * sigmoid(y); },
       {5}},
      {"sum_and_product",
       [](const Tensor& x, const Tensor& y) {
         Stack stack{TensorBase(x), TensorBase(y)};
         get_operator("stable_ops::sum_and_product").call_boxed(stack);
         return Tensor(stack[0].to_tensor()) * 3 + Tensor(stack[1].to_tensor());
       },
       [](const Tensor& x, const Tensor& y) { return (x + y) * 3 + x * y; },
       {4, 1}},
      {"rms",
       [](const Tensor& x, const Tensor& y) {
         return call("stable_ops::rms", {TensorBase(x), TensorBase(y), 1e-3});
       },
       [](const Tensor& x, const Tensor& y) {
         return x * rsqrt((x * x).mean(-1, true) + 1e-3) * y;
       },
       {5}},
      {"rms without weight",
       [](const Tensor& x, const Tensor& y) {
         return call("stable_ops::rms", {TensorBase(x), Value(), 1e-3}) + y;
       },
       [](const Tensor& x, const Tensor& y) {
         return x * rsqrt((x * x).mean(-1, true) + 1e-3) + y;
       },
       {5}},
      {"log_norm",
       [](const Tensor& x, const Tensor& y) {
         return call("stable_ops::log_norm", {TensorBase(x), int64_t{-2}, true}) * y;
       },
       [](const Tensor& x, const Tensor& y) { return log((x * x).sum(-2, true)) * y; },
       {5}},
      {"scaled_loss",
       [](const Tensor& x, const Tensor& y) {
         return call("stable_ops::scaled_loss", {TensorBase(x), TensorBase(y), Scalar(3)});
       },
       [](const Tensor& x, const Tensor& y) { return ((x - y) * (x - y)).mean() * 3; },
       {4, 5}},
  };
}

void check_close(const Tensor& ours, const Tensor& expected) {
  REQUIRE(ours.defined());
  REQUIRE(ours.sizes() == expected.sizes());
  CHECK(ours.scalar_type() == expected.scalar_type());
  CHECK(ours.allclose(expected, 1e-9, 1e-9));
}

}  // namespace

TEST_CASE("stable: generated operators and their gradients, twice") {
  manual_seed(3);
  for (const Case& c : cases()) {
    INFO(c.name);
    Tensor x = randn({4, 5}, kDouble);
    Tensor y = randn(c.second, kDouble);
    check_close(c.ours(x, y), c.reference(x, y));
    check_close(c.ours(x.t().contiguous().t(), y), c.reference(x, y));
    CHECK(c.ours(x.to(kMeta), y.to(kMeta)).sizes() == c.reference(x, y).sizes());
    x.requires_grad_();
    y.requires_grad_();
    std::vector<Tensor> firsts[2], seconds[2];
    for (int k = 0; k < 2; ++k) {
      const Tensor out = (k ? c.reference : c.ours)(x, y);
      firsts[k] = autograd::grad({(out * out).sum()}, {x, y}, {}, {.create_graph = true});
      seconds[k] = autograd::grad({(firsts[k][0] * x).sum() + (firsts[k][1] * y).sum()}, {x, y});
      const Tensor again = (k ? c.reference : c.ours)(x, y);
      for (const Tensor& g : autograd::grad({again.sum()}, {x, y})) firsts[k].push_back(g);
    }
    for (size_t i = 0; i < firsts[0].size(); ++i) check_close(firsts[0][i], firsts[1][i]);
    for (size_t i = 0; i < 2; ++i) check_close(seconds[0][i], seconds[1][i]);
  }
}

TEST_CASE("stable: generated operators in forward mode and in vmap") {
  manual_seed(4);
  for (const Case& c : cases()) {
    INFO(c.name);
    const Tensor x = randn({4, 5}, kDouble);
    const Tensor y = randn(c.second, kDouble);
    {
      const autograd::forward_ad::DualLevel level;
      const Tensor dual = autograd::forward_ad::make_dual(x, x * 2);
      const auto ours = autograd::forward_ad::unpack_dual(c.ours(dual, y));
      const auto expected = autograd::forward_ad::unpack_dual(c.reference(dual, y));
      check_close(ours.tangent, expected.tangent);
    }
    const Tensor batch = randn({3, 4, 5}, kDouble);
    const auto ours = func::vmap(c.ours, {.in_dims = {0, std::nullopt}})(batch, y);
    const auto expected = func::vmap(c.reference, {.in_dims = {0, std::nullopt}})(batch, y);
    check_close(ours, expected);
  }
}

TEST_CASE("stable: generated operators promote, broadcast and report as Tenon's own") {
  cases();
  const Tensor whole = arange(4, kLong);
  const Tensor half = tensor({1.f, 2.f, 3.f, 4.f});
  const auto gate = [](const Tensor& x, const Tensor& y) {
    return call("stable_ops::gate", {TensorBase(x), TensorBase(y), 0.5});
  };
  CHECK(gate(whole, whole).scalar_type() == kFloat);
  CHECK(gate(whole, half.to(kDouble)).scalar_type() == kDouble);
  CHECK(gate(half.to(kBFloat16), tensor({1.f})).scalar_type() == kFloat);
  check_error([&] { gate(half, tensor({1.f, 2.f})); }, "do not broadcast");
  check_error(
      [&] {
        call("stable_ops::log_norm", {TensorBase(half), int64_t{1}, false});
      },
      "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}
